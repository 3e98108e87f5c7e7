//! `]device`, `]math` and `]ptx`: where launches run, how a GPU computes, and what NVRTC makes of a
//! launch's text.

use super::{Call, tools};
use aplomb_devices::device::{Device, Wanted, cuda};
use aplomb_ground::error::{Error, domain, syntax};
use aplomb_ground::trace::{Cuda, Trace};
use aplomb_plans::kir;
use aplomb_plans::plan::Math;

/// Alone: what is chosen, and what there is. With a name: from now on.
pub fn device(call: &mut Call<'_>) -> Result<(), Error> {
    let args = call.args.to_string();
    if !args.is_empty() {
        let names = Wanted::ALL.map(Wanted::name).join(" ");
        let wanted = Wanted::named(&args).ok_or_else(|| {
            syntax(format!("no device is called {args}")).hint(format!("]device {names}"))
        })?;
        call.session.core().devices().want(wanted);
    }
    let math = mode(call.session.options().math);
    let devices = call.session.core().devices();
    let cpu = devices.cpu.name();
    let wanted = devices.wanted();
    let mut rows = vec![
        ("chosen".to_string(), wanted.name().to_string()),
        ("math".into(), math),
        ("CPU".into(), cpu),
    ];
    match devices.find() {
        Ok(cuda) => rows.extend(cuda.facts()),
        Err(says) => rows.push(("GPU".into(), says.to_string())),
    }
    let wide = rows.iter().map(|r| r.0.chars().count()).max().unwrap_or(0);
    let lines: String = rows.iter().map(|(k, v)| format!("{k:wide$}  {v}\n")).collect();
    call.show(&lines);
    Ok(())
}

fn mode(math: Math) -> String {
    format!("{}: {}", math.name(), math.says())
}

/// Alone: how a GPU computes. With a name: from now on.
pub fn math(call: &mut Call<'_>) -> Result<(), Error> {
    let args = call.args.to_string();
    if !args.is_empty() {
        let names = Math::ALL.map(Math::name).join(" ");
        call.session.options().math = Math::named(&args).ok_or_else(|| {
            syntax(format!("no math is called {args}")).hint(format!("]math {names}"))
        })?;
    }
    let says = mode(call.session.options().math);
    call.show(&format!("{says}\n"));
    Ok(())
}

/// `]ptx`: the PTX of each launch, where NVRTC is installed.
pub fn ptx(call: &mut Call<'_>) -> Result<(), Error> {
    let (which, expr) = tools::launch_of(call.args);
    let trace = super::tools::trace_of(call, expr)?;
    call.show(&text(&trace, which).map_err(domain)?);
    Ok(())
}

/// The PTX of a trace's launches, each instruction under the line and node that it comes from.
pub fn text(trace: &Trace, which: Option<&str>) -> Result<String, String> {
    let wanted = |id: u32| which.is_none_or(|w| w == format!("k{id}"));
    let texts = trace.kernels.iter().filter(|k| wanted(k.id)).filter_map(|k| k.cuda.as_ref());
    let mut out = String::new();
    for one in texts {
        let program = kir::program(std::slice::from_ref(one));
        let ptx = cuda::ptx(&program, &trace.config.arch)
            .map_err(|says| format!("there is no PTX: {says}"))?;
        out += &linked(&ptx, one, &program);
    }
    if out.is_empty() { Err("no launch here has CUDA text".into()) } else { Ok(out) }
}

/// `.loc` says of which line of the program the next instructions are.
fn linked(ptx: &str, cuda: &Cuda, program: &str) -> String {
    let first = program.lines().count() - cuda.text.lines().count();
    let source: Vec<&str> = cuda.text.lines().collect();
    let code = ptx.lines().skip_while(|l| !l.contains(".entry"));
    let (mut out, mut at) = (String::new(), 0);
    for line in code.take_while(|l| !l.contains(".section")) {
        let Some(place) = line.trim_start().strip_prefix(".loc") else {
            if !line.trim().is_empty() {
                out += &format!("{line}\n");
            }
            continue;
        };
        let number =
            place.split_whitespace().nth(1).and_then(|n| n.parse::<usize>().ok()).unwrap_or(0);
        let text = number.checked_sub(first + 1).and_then(|k| source.get(k));
        if let Some(text) = text.filter(|_| number != at) {
            at = number;
            out += &format!("\t// {}\n", text.trim());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_stand_under_their_line_and_node() {
        let cuda = Cuda {
            text: "void k0() {\n  double v0 = a0[i];  // n3\n}\n".into(),
            ..Cuda::default()
        };
        let ptx = "//\n.version 9.0\n.visible .entry k0(\n)\n{\n\t.loc\t1 3 4\n\tld.global.f64 \
                   %fd1, [%rd4];\n\n}\n\t.section x\n";
        let text = linked(ptx, &cuda, &format!("// prelude\n{}", cuda.text));
        assert_eq!(
            text,
            ".visible .entry k0(\n)\n{\n\t// double v0 = a0[i];  // n3\n\tld.global.f64 %fd1, \
             [%rd4];\n}\n"
        );
    }
}
