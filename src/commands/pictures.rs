//! Pictures of a whole trace: every evaluation of a statement in turn.

use aplomb_ground::protocol::{HTML, MimeBundle, PNG, TRACE};
use aplomb_ground::trace::Trace;
use aplomb_viz::svg::{self, Panel};
use aplomb_viz::{Graph, dot, find_pass, heading, list, nothing, tables, text, why};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;
use std::io::Write;
use unicode_width::UnicodeWidthStr;

/// Each evaluation by `each`, headed where there are several.
fn segments(
    trace: &Trace,
    pass: Option<&str>,
    each: impl Fn(&Graph) -> String,
) -> Result<String, String> {
    let n = trace.segments.len();
    if n == 0 {
        return find_pass(trace, 0, pass).map(|g| each(&g));
    }
    let mut out = String::new();
    for k in 0..n {
        if n > 1 {
            out += &format!("{}\n", heading(trace, k));
        }
        out += &each(&find_pass(trace, k, pass)?);
    }
    Ok(out)
}

/// The room that a picture has.
pub struct Room {
    /// Whether pictures are ASCII.
    pub ascii: bool,
    /// The terminal's; None where there is none, and nothing is too wide.
    pub columns: Option<usize>,
    /// Columns that sentences may fill.
    pub width: usize,
}

/// Graphs of more nodes than this, and pictures of more lines, are drawn with repeats, twins and
/// chains folded.
const MANY: usize = 100;
const TALL: usize = 60;

/// The drawn graph, folded where it is large, tall or would not fit; a list where even that does
/// not. Errors: no such pass, nothing compiled.
pub fn dag(trace: &Trace, pass: Option<&str>, room: &Room) -> Result<String, String> {
    let wide = |picture: &str| picture.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
    let fits = |picture: &str| room.columns.is_none_or(|c| wide(picture) <= c);
    let tall = |picture: &str| picture.lines().count() > TALL;
    segments(trace, pass, |g| {
        let whole = (g.nodes.len() <= MANY).then(|| text::draw(g, room.ascii));
        if let Some(picture) = whole.filter(|p| fits(p) && !tall(p)) {
            return picture;
        }
        let picture = text::draw_folded(g, room.ascii);
        match room.columns {
            Some(columns) if !fits(&picture) => {
                format!(
                    "{}(drawn it is {} columns wide; the terminal has {columns})\n",
                    list::list(g),
                    wide(&picture)
                )
            }
            _ => picture,
        }
    })
}

/// Bytes of a form beside the text; what is larger is left out.
const LARGEST: usize = 1 << 20;

/// The picture for a page that shows more than text: an image of SVG that no sanitiser removes, a
/// bitmap for paper, the trace. `fold`: None folds what is large.
pub fn forms(trace: &Trace, pass: Option<&str>, fold: Option<bool>) -> MimeBundle {
    let n = trace.segments.len();
    let panel = |k: usize| {
        let heading = if n > 1 { heading(trace, k) } else { String::new() };
        let graph = find_pass(trace, k, pass).ok()?;
        let folded = fold.unwrap_or(graph.nodes.len() > MANY);
        Some(Panel { heading, graph, folded })
    };
    let panels: Vec<Panel> = (0..n).filter_map(panel).collect();
    if panels.is_empty() {
        return MimeBundle::new();
    }
    let json = stored(trace, None);
    let drawn = svg::draw(&panels);
    let png = aplomb_charts::png(&drawn).map_or(String::new(), |png| BASE64_STANDARD.encode(png));
    let forms = [(HTML, svg::image(&panels)), (PNG, png), (TRACE, json)];
    let small = forms.into_iter().filter(|(_, text)| !text.is_empty() && text.len() <= LARGEST);
    small.map(|(kind, text)| (kind.to_string(), text)).collect()
}

/// The words beside a trace for a page: which command shows it, all that it says, the node that was
/// asked about.
pub struct Asked<'a> {
    /// `why` or `cuda`.
    pub kind: &'static str,
    /// All that the command prints.
    pub says: &'a str,
    /// The number of the node.
    pub node: Option<u32>,
}

/// The text of `]why` or `]cuda` with the trace of the same run, for a page that draws it.
pub fn told(trace: &Trace, asked: &Asked<'_>) -> MimeBundle {
    let json = stored(trace, Some(asked));
    let small = Some(json).filter(|json| json.len() <= LARGEST);
    small.map(|json| (TRACE.to_string(), json)).into_iter().collect()
}

/// The fields that no page shows, by the part of a trace that has it.
const UNSEEN: &[(&str, &[&str])] = &[
    ("nodes", &["h", "from", "born", "uses"]),
    ("passes", &["view", "events", "ms", "flops", "lets", "live", "roots"]),
    ("kernels", &["cpu", "reads", "body"]),
];
/// The texts of launches: a page asks for them, unless they are what it shows.
const TEXTS: &[(&str, &[&str])] = &[("kernels", &["cuda"])];

/// A trace as a notebook keeps it: without what no page shows, deflated, and the same bytes when it
/// runs again.
fn stored(trace: &Trace, asked: Option<&Asked<'_>>) -> String {
    let Ok(mut json) = serde_json::to_value(trace.clone().canonical()) else {
        return String::new();
    };
    let texts = if asked.is_some_and(|a| a.kind == "cuda") { &[] } else { TEXTS };
    for (part, fields) in UNSEEN.iter().chain(texts) {
        let rows = json[part].as_array_mut().into_iter().flatten();
        for row in rows.filter_map(|row| row.as_object_mut()) {
            row.retain(|field, _| !fields.contains(&field.as_str()));
        }
    }
    if let Some(asked) = asked {
        json["view"] = json!({ "kind": asked.kind, "says": asked.says });
        if let Some(node) = asked.node {
            json["view"]["node"] = node.into();
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    let packed = packed.write_all(json.to_string().as_bytes()).and_then(|()| packed.finish());
    let packed = packed.map_or(String::new(), |bytes| BASE64_STANDARD.encode(bytes));
    json!({ "statement": trace.statement, "deflated": packed }).to_string()
}

/// Each graph as a list, a line a node.
pub fn listed(trace: &Trace, pass: Option<&str>) -> Result<String, String> {
    segments(trace, pass, list::list)
}

/// Each graph drawn, with repeats and chains as one box each.
pub fn folded(trace: &Trace, pass: Option<&str>, room: &Room) -> Result<String, String> {
    segments(trace, pass, |g| text::draw_folded(g, room.ascii))
}

/// Each graph drawn whole.
pub fn whole(trace: &Trace, pass: Option<&str>, room: &Room) -> Result<String, String> {
    segments(trace, pass, |g| text::draw(g, room.ascii))
}

/// A view of the whole line at one distance.
type Level = fn(&Trace, Option<&str>, &Room) -> Result<String, String>;

/// From far to near.
const ZOOM: &[(&str, Level)] = &[
    ("program", |trace, _, _| Ok(tables::evaluations(trace))),
    ("launches", |trace, _, room| {
        segments(trace, None, |g| text::draw_launches(trace, g.segment, room.ascii))
    }),
    ("nodes", dag),
    ("body", |trace, _, _| tables::bodies(trace, None)),
];

/// By name, or 1 to 4. Errors: no such level.
pub fn zoomed(
    trace: &Trace,
    level: &str,
    pass: Option<&str>,
    room: &Room,
) -> Result<String, String> {
    let number = level.parse::<usize>().ok().and_then(|k| ZOOM.get(k.checked_sub(1)?));
    let names = || ZOOM.iter().map(|z| z.0).collect::<Vec<_>>().join(" ");
    let found = ZOOM.iter().find(|z| z.0 == level).or(number);
    let draw = found.ok_or_else(|| format!("no zoom is called {level}; there are {}", names()))?.1;
    draw(trace, pass, room)
}

/// The part of a trace that goes to Graphviz.
#[derive(Clone, Copy)]
pub enum Dot<'a> {
    /// The graph after a pass; None: the last.
    Pass(Option<&'a str>),
    /// The launches and what they hand over.
    Launches,
    /// The terms with their lets.
    Lets,
    /// The buffers and their lifetimes.
    Buffers,
}

/// Graphviz text: one digraph.
pub fn dot(trace: &Trace, view: Dot) -> Result<String, String> {
    let last = trace.segments.len().max(1);
    match view {
        Dot::Pass(pass) => {
            let all: Result<Vec<Graph>, String> =
                (0..last).map(|k| find_pass(trace, k, pass)).collect();
            Ok(dot::graphs(&all?))
        }
        Dot::Launches => Ok(dot::kernels(trace)),
        Dot::Lets => Ok(dot::lets(trace)),
        Dot::Buffers => Ok(dot::buffers(trace)),
    }
}

/// The CUDA text of all launches, each under what it takes of the trace's architecture.
pub fn cuda_on(trace: &Trace) -> Result<String, String> {
    let arch = &trace.config.arch;
    let mut out = String::new();
    for k in &trace.kernels {
        let registers = match k.regs {
            Some(n) => format!("{n} registers"),
            None => "registers guessed by the values alive at once".into(),
        };
        let threads: u32 = k.launch.block.iter().product();
        let shared =
            format!("{threads} threads and {} bytes of shared memory a block", k.launch.smem);
        let occupancy = k.occ.map_or(0.0, |o| o * 100.0);
        let head =
            format!("// {}: {arch}, {registers}, {shared}: occupancy {occupancy:.0} %", k.name);
        out += &format!("{}{head}\n", if out.is_empty() { "" } else { "\n" });
        out += &cuda(trace, Some(&format!("k{}", k.id)))?;
    }
    if out.is_empty() { cuda(trace, None) } else { Ok(out) }
}

/// The CUDA text of one launch (`k0`), or of all.
pub fn cuda(trace: &Trace, which: Option<&str>) -> Result<String, String> {
    let names = || trace.kernels.iter().map(|k| format!("k{}", k.id)).collect::<Vec<_>>().join(" ");
    let wanted = |id: u32| which.is_none_or(|w| w == format!("k{id}"));
    let mut out = String::new();
    for launch in trace.kernels.iter().filter(|k| wanted(k.id)) {
        let text =
            launch.cuda.as_ref().map_or("// no CUDA text for this launch", |c| c.text.as_str());
        let gap = if out.is_empty() { "" } else { "\n" };
        out += &format!("{gap}{}\n", text.trim_end());
    }
    match (out.is_empty(), which) {
        (false, _) => Ok(out),
        (true, Some(which)) if !trace.kernels.is_empty() => {
            Err(format!("no launch is called {which}; there are {}", names()))
        }
        (true, _) => Err(format!("this line launched nothing: {}", nothing(trace))),
    }
}

/// All of it for people: graph, passes, launches, reasons.
pub fn report(trace: &Trace, room: &Room) -> String {
    let parts = [
        dag(trace, None, room).unwrap_or_else(|says| format!("{says}\n")),
        tables::story(trace, room.width),
        tables::kernels(trace, None).unwrap_or_default(),
        why::summary(trace, room.width),
    ];
    parts.iter().filter(|p| !p.trim().is_empty()).cloned().collect::<Vec<_>>().join("\n")
}
