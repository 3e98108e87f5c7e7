//! NVRTC: CUDA text to a binary for one architecture, and what its log says of each kernel. A text
//! says itself whether its math is fast.
//!
//! A CUBIN is independent of the driver's own compiler. The budgets are in registers, shared bytes
//! and spilled bytes, which ptxas tells without a GPU.

use aplomb_plans::kir;
use aplomb_plans::plan::Math;
use cudarc::nvrtc::result::{
    compile_program, create_program, destroy_program, get_program_log, get_ptx,
};
use cudarc::nvrtc::sys;
use std::ffi::CString;

/// Beside the architecture and what `math` says.
const OPTIONS: &[&str] =
    &["--std=c++17", "--prec-div=true", "--prec-sqrt=true", "-lineinfo", "--ptxas-options=-v"];

/// Strict: `×` and `+` round apart, as on the CPU.
fn fmad(math: Math) -> &'static str {
    match math {
        Math::Strict => "--fmad=false",
        Math::Fast => "--fmad=true",
    }
}

/// The options of all texts, for keys: which of the two a text has stands in it.
pub fn options() -> String {
    let apart = Math::ALL.map(|m| format!("{} {}", m.name(), fmad(m)));
    format!("{} {}", OPTIONS.join(" "), apart.join(" "))
}

/// The resources that one kernel takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of shared memory that a block takes.
    pub shared: u32,
    /// Bytes that registers were too few for, stores and loads.
    pub spills: u32,
}

pub struct Binary {
    pub cubin: Vec<u8>,
    pub log: String,
}

/// The library, if it can be loaded, and its version.
pub fn version() -> Result<(i32, i32), String> {
    // SAFETY: looks for a library of that name, and calls it only where it is.
    let there = super::driver::guarded(|| unsafe { sys::is_culib_present() });
    if there != Some(true) {
        return Err("libnvrtc was not found".into());
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: two integers to be filled.
    let done = super::driver::guarded(|| unsafe { sys::nvrtcVersion(&mut major, &mut minor) });
    match done {
        Some(sys::nvrtcResult::NVRTC_SUCCESS) => Ok((major, minor)),
        _ => Err("libnvrtc does not tell its version".into()),
    }
}

/// Errors: NVRTC's log, or its name for what went wrong.
pub fn compile(text: &str, arch: &str) -> Result<Binary, String> {
    let (cubin, log) = with_program(text, arch, |program| {
        let mut size = 0;
        // SAFETY: a compiled program; the buffer has the size that was told.
        unsafe {
            sys::nvrtcGetCUBINSize(program, &mut size).result()?;
            let mut cubin = vec![0u8; size];
            sys::nvrtcGetCUBIN(program, cubin.as_mut_ptr().cast()).result()?;
            Ok(cubin)
        }
    })?;
    if cubin.is_empty() { Err("NVRTC gave no binary".into()) } else { Ok(Binary { cubin, log }) }
}

/// The PTX of a text. Errors: as `compile`.
pub fn ptx(text: &str, arch: &str) -> Result<String, String> {
    version()?;
    // SAFETY: a compiled program.
    let (bytes, _) = with_program(text, arch, |program| unsafe { get_ptx(program) })?;
    let bytes: Vec<u8> = bytes.into_iter().map(|c| c as u8).take_while(|b| *b != 0).collect();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The resources that the kernels of a program take on an architecture, in its order. Needs NVRTC
/// and no GPU. Errors: as `compile`.
pub fn measured(text: &str, arch: &str) -> Result<Vec<(String, Usage)>, String> {
    version()?;
    compile(text, arch).map(|made| usage(&made.log))
}

/// The binary of a text for an architecture. Errors: as `compile`.
pub fn cubin(text: &str, arch: &str) -> Result<Vec<u8>, String> {
    version()?;
    compile(text, arch).map(|made| made.cubin)
}

type Got<T> = Result<T, cudarc::nvrtc::result::NvrtcError>;

fn with_program<T>(
    text: &str,
    arch: &str,
    get: impl FnOnce(sys::nvrtcProgram) -> Got<T>,
) -> Result<(T, String), String> {
    let source = CString::new(text).map_err(|_| "the text has a NUL".to_string())?;
    let options: Vec<String> = [&format!("--gpu-architecture={arch}"), fmad(kir::math(text))]
        .iter()
        .chain(OPTIONS)
        .map(|o| o.to_string())
        .collect();
    let run = || {
        let program = create_program(&source, Some(c"aplomb.cu")).map_err(|e| e.to_string())?;
        // SAFETY: the program is ours from its making to its end in this function.
        let done = unsafe { compile_program(program, &options) };
        // SAFETY: as above.
        let log = unsafe { get_program_log(program) }.unwrap_or_default();
        let log: Vec<u8> = log.into_iter().map(|c| c as u8).take_while(|b| *b != 0).collect();
        let log = String::from_utf8_lossy(&log).into_owned();
        let got = match done {
            Ok(()) => get(program).map_err(|e| e.to_string()),
            Err(e) => Err(format!("{:?}: {}", e.0, first_error(&log))),
        };
        // SAFETY: not used after this.
        let _ = unsafe { destroy_program(program) };
        got.map(|got| (got, log))
    };
    super::driver::guarded(run).unwrap_or_else(|| Err("libnvrtc lacks a function".into()))
}

fn first_error(log: &str) -> &str {
    log.lines().find(|l| l.contains("error")).or(log.lines().next()).unwrap_or("no log")
}

/// By kernel, in the log's order: `ptxas info : Compiling entry function 'k0' …`, then lines about
/// it.
pub fn usage(log: &str) -> Vec<(String, Usage)> {
    let mut out: Vec<(String, Usage)> = Vec::new();
    for line in log.lines() {
        if let Some(rest) = line.split("Compiling entry function '").nth(1) {
            out.push((rest.split('\'').next().unwrap_or("").into(), Usage::default()));
        } else if let Some((_, last)) = out.last_mut() {
            last.spills += before(line, " bytes spill stores").unwrap_or(0)
                + before(line, " bytes spill loads").unwrap_or(0);
            last.registers = before(line, " registers").unwrap_or(last.registers);
            last.shared = before(line, " bytes smem").unwrap_or(last.shared);
        }
    }
    out
}

/// The number that stands before a phrase.
fn before(line: &str, phrase: &str) -> Option<u32> {
    let head = line.split(phrase).next().filter(|h| h.len() < line.len())?;
    let digits = head.rsplit(|c: char| !c.is_ascii_digit()).next()?;
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_tells_registers_shared_bytes_and_spills() {
        let log = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'k0' for 'sm_90'\n\
            ptxas info    : Function properties for k0\n\
            \u{20}   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 24 registers, used 1 barriers, 68 bytes smem, 592 bytes cmem[0]\n\
            ptxas info    : Compiling entry function 'k1' for 'sm_90'\n\
            \u{20}   16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 255 registers, 400 bytes cmem[0]\n";
        let all = usage(log);
        assert_eq!(all[0], ("k0".into(), Usage { registers: 24, shared: 68, spills: 0 }));
        assert_eq!(all[1], ("k1".into(), Usage { registers: 255, shared: 0, spills: 20 }));
        assert!(usage("no log at all").is_empty());
    }
}
