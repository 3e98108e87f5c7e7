//! A run by source line: a table that fits a terminal, and a flame picture as SVG.

use crate::tables::grid;
use crate::why::count;
use aplomb_ground::error::{bytes, time};
use aplomb_ground::profile::{Line, OUTSIDE, Profile};
use std::fmt::Write;

/// So many lines are told one by one.
const LINES: usize = 30;

/// A column of the table.
struct Column {
    head: &'static str,
    /// Left out where the terminal has fewer columns.
    from: usize,
    of: fn(&Line) -> String,
}

fn ms(x: f64) -> String {
    if x > 0.0 { time(x * 1e3) } else { String::new() }
}

/// Behind the share, before the line.
const COLUMNS: &[Column] = &[
    Column { head: "time", from: 0, of: |l| time(l.total_ms() * 1e3) },
    Column { head: "host", from: 0, of: |l| ms(l.host_ms) },
    Column { head: "launches", from: 0, of: |l| ms(l.launch_ms) },
    Column {
        head: "",
        from: 0,
        of: |l| if l.launches > 0 { format!("×{}", l.launches) } else { String::new() },
    },
    Column { head: "compiling", from: 70, of: |l| ms(l.compile_ms) },
    Column { head: "waiting", from: 100, of: |l| ms(l.wait_ms) },
    Column {
        head: "moved",
        from: 100,
        of: |l| if l.bytes > 0 { bytes(l.bytes) } else { String::new() },
    },
    Column { head: "calls", from: 100, of: |l| l.calls.to_string() },
];

/// The lines by time, the longest first, and what is none of theirs.
pub fn table(profile: &Profile, width: usize) -> String {
    let columns = || COLUMNS.iter().filter(|c| c.from <= width);
    let head = std::iter::once("share").chain(columns().map(|c| c.head)).chain(Some("line"));
    let mut rows = vec![head.map(String::from).collect::<Vec<_>>()];
    let told = profile.lines.iter().filter(|l| l.total_ms() > 0.0).count();
    let source = |l: &Line| l.at.rsplit_once(':').map(|(source, _)| source.to_string());
    let one = profile.lines.iter().all(|l| source(l) == source(&profile.lines[0]));
    for line in profile.lines.iter().take(told.min(LINES)) {
        let at = short(&line.at);
        let at = if one { behind(at, ':') } else { at };
        let mut row = vec![share(line.total_ms(), profile)];
        row.extend(columns().map(|c| (c.of)(line)));
        row.push(format!("{at}  {}", line.text));
        rows.push(row);
    }
    let cut = |l: &str| -> String {
        match l.chars().count() > width {
            true => l.chars().take(width.saturating_sub(1)).chain(Some('…')).collect(),
            false => l.into(),
        }
    };
    let mut out: String =
        grid(&rows, &[1 + columns().count()]).lines().map(|l| cut(l) + "\n").collect();
    // A sum of no lines is -0.
    let sum = |of: fn(&Line) -> f64| profile.lines.iter().map(of).fold(0.0, |x, y| x + y);
    let rest = &profile.lines[told.min(LINES)..told];
    if !rest.is_empty() {
        let ms: f64 = rest.iter().map(Line::total_ms).sum();
        let _ = writeln!(out, "… and {}: {}", count(rest.len(), "line"), time(ms * 1e3));
    }
    let parts = [
        ("host", sum(|l| l.host_ms)),
        ("launches", sum(|l| l.launch_ms)),
        ("compiling", sum(|l| l.compile_ms)),
        ("waiting", sum(|l| l.wait_ms)),
        (OUTSIDE, profile.outside_ms),
    ];
    let part =
        |(what, ms): &(&str, f64)| format!("{what} {} ({})", time(ms * 1e3), share(*ms, profile));
    let parts: Vec<String> = parts.iter().map(part).collect();
    let all = format!("{} in all: {}", time(profile.wall_ms * 1e3), parts.join(", "));
    out + &crate::why::wrapped(&all, 2, width) + "\n"
}

fn share(ms: f64, profile: &Profile) -> String {
    format!("{:.1}%", 100.0 * ms / profile.wall_ms.max(1e-9))
}

/// `main.apl:12` of a path.
fn short(at: &str) -> &str {
    behind(at, '/')
}

fn behind(text: &str, mark: char) -> &str {
    match text.rsplit_once(mark) {
        Some((_, last)) => last,
        None => text,
    }
}

/// Pixels: of the picture's width, of a row.
const WIDE: f64 = 1200.0;
const HIGH: f64 = 18.0;

/// A frame of the flame picture.
#[derive(Default)]
struct Frame {
    name: String,
    ms: f64,
    above: Vec<Frame>,
}

impl Frame {
    fn add(&mut self, path: &[String], ms: f64) {
        self.ms += ms;
        let Some((first, rest)) = path.split_first() else { return };
        match self.above.iter_mut().find(|f| f.name == *first) {
            Some(known) => known.add(rest, ms),
            None => {
                let mut new = Frame { name: first.clone(), ..Frame::default() };
                new.add(rest, ms);
                self.above.push(new);
            }
        }
    }

    fn depth(&self) -> usize {
        1 + self.above.iter().map(Frame::depth).fold(0, usize::max)
    }
}

/// The calls as a flame: a row a call, as wide as its time, callers below. It needs no script.
pub fn flame(profile: &Profile) -> String {
    let mut root = Frame { name: "all".into(), ..Frame::default() };
    profile.stacks.iter().for_each(|s| root.add(&s.path, s.ms));
    root.ms = root.ms.max(profile.wall_ms);
    let high = HIGH * root.depth() as f64 + 8.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDE} {high}\" \
         width=\"{WIDE}\" height=\"{high}\" font-family=\"'DejaVu Sans Mono',monospace\" \
         font-size=\"11\"><title>{} by source line</title>\
         <rect width=\"{WIDE}\" height=\"{high}\" fill=\"#ffffff\"/>\n",
        time(profile.wall_ms * 1e3)
    );
    let scale = WIDE / root.ms.max(1e-9);
    draw(&mut out, &root, profile, (0.0, high - HIGH - 4.0), scale);
    out + "</svg>\n"
}

fn draw(out: &mut String, frame: &Frame, profile: &Profile, at: (f64, f64), scale: f64) {
    let wide = frame.ms * scale;
    // Nobody sees less.
    if wide < 0.5 {
        return;
    }
    let (x, y) = at;
    let fill = match frame.name.as_str() {
        "all" | OUTSIDE => "#e4e4e4",
        "compiling" => "#cfe3c8",
        "launches" => "#e3eefa",
        "waiting" => "#eadcf2",
        _ => "#fff0bf",
    };
    let line = profile.lines.iter().find(|l| l.at == frame.name);
    let text = line.map_or(String::new(), |l| format!("  {}", l.text));
    let says = format!("{}{text}", short(&frame.name));
    let took = format!("{} · {} ({})", says, time(frame.ms * 1e3), share(frame.ms, profile));
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{wide:.1}\" \
         height=\"{:.1}\" fill=\"{fill}\" stroke=\"#8d8d8d\" stroke-width=\"0.5\"/>",
        escaped(&took),
        HIGH - 1.0
    );
    let room = (wide / 6.8) as usize;
    if room > 3 {
        let shown: String = says.chars().take(room - 1).collect();
        let (x, y) = (x + 3.0, y + 12.5);
        let _ = write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(&shown));
    }
    out.push_str("</g>\n");
    let mut next = x;
    for above in &frame.above {
        draw(out, above, profile, (next, y - HIGH), scale);
        next += above.ms * scale;
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_ground::profile::Stack;

    fn profile() -> Profile {
        let line = |at: &str, text: &str, host_ms: f64, launch_ms: f64| Line {
            at: at.into(),
            text: text.into(),
            calls: 1,
            host_ms,
            launch_ms,
            ..Line::default()
        };
        let stack =
            |path: &[&str], ms| Stack { path: path.iter().map(|s| s.to_string()).collect(), ms };
        Profile {
            wall_ms: 10.0,
            outside_ms: 1.0,
            lines: vec![
                line("d/a.apl:2", "f←{+/⍵<9}", 1.0, 6.0),
                line("d/a.apl:3", "f x", 2.0, 0.0),
            ],
            stacks: vec![
                stack(&["d/a.apl:3"], 2.0),
                stack(&["d/a.apl:3", "d/a.apl:2"], 1.0),
                stack(&["d/a.apl:3", "d/a.apl:2", "launches"], 6.0),
                stack(&[OUTSIDE], 1.0),
            ],
            ..Profile::default()
        }
    }

    #[test]
    fn a_table_has_all_of_the_time_and_fits() {
        let text = table(&profile(), 60);
        assert!(text.lines().all(|l| l.chars().count() <= 60), "{text}");
        assert!(text.lines().nth(1).is_some_and(|l| l.contains("70.0%") && l.contains("2  f←")));
        assert!(text.contains("outside of lines 1.0 ms (10.0%)"), "{text}");
    }

    #[test]
    fn a_flame_stands_on_its_callers_and_is_as_wide_as_its_time() {
        let text = flame(&profile());
        let of = |name: &str, what: &str| -> f64 {
            let line = text.lines().find(|l| l.contains(&format!("<title>{name}"))).expect(name);
            let (_, rest) = line.split_once(&format!(" {what}=\"")).expect(what);
            rest.split('"').next().and_then(|n| n.parse().ok()).expect("a number")
        };
        assert_eq!([of("launches", "width"), of("a.apl:3", "width")], [720.0, 1080.0]);
        assert_eq!([of(OUTSIDE, "width"), of(OUTSIDE, "y")], [120.0, of("a.apl:3", "y")]);
        assert!(of("launches", "y") < of("a.apl:2", "y") && of("a.apl:2", "y") < of("all", "y"));
        assert!(text.contains("+/⍵&lt;9"));
    }
}
