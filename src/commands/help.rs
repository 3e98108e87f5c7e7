//! `]help`: the first screen, and where a topic is found: primitives, keys, phrases, notation,
//! system names, commands, passes, errors, names of NumPy.

use super::pages::{Page, uses};
use super::{COMMANDS, Call, nearest, numpy};
use aplomb_compiler::pass::{DEVICES, GROUPS, PIPELINE, PRESETS, RECORDER, RULES, SWITCHES};
use aplomb_ground::error::{Error, Kind, value};
use aplomb_ground::help::{errors, idioms, notation, topics as pieces};
use aplomb_language::eval::system::{self, library};
use aplomb_language::table::{OTHER_KEYS, find, prims};

const OVERVIEW: &str = "\
Type a line of APL and its value prints. ← names a value, ⍝ begins a comment.

Glyphs     `r gives ⍴   `i ⍳   `w ⍵   `a ⍺   `[ ←   `- ×   `= ÷   `D ⋄
           or by name and Tab: rho<Tab> ⍴   iota<Tab> ⍳   times<Tab> ×
Help on    ]help ⍉  ]help sum  ]help if  ]help ⎕CSV  ]help ]dag  ]help RANK

The compiler, on the last line that gave a value, or on an expression:
  ]dag       the graph: what was shared, what was fused
  ]why       launches, bytes, time, and the reason for each
  ]kernels   the launches as a table
  ]cuda      the text that a GPU would run
  ]off       switches passes off (]off fusion); ]on, then ]time to compare
";

fn commands() -> String {
    let built = |bracket: char| {
        let all = COMMANDS.iter().filter(|c| c.run.is_some() && c.name.starts_with(bracket));
        let mut lines = vec![String::new()];
        for name in all.map(|c| c.name) {
            let last = lines.len() - 1;
            if lines[last].len() + name.len() > 66 {
                lines.push(name.into());
            } else {
                let gap = if lines[last].is_empty() { "" } else { " " };
                lines[last] += &format!("{gap}{name}");
            }
        }
        lines.join("\n           ")
    };
    format!("\nCommands   {}\n           {}\n", built(']'), built(')'))
}

const EXAMPLES: &str = "\
Try        avg←+/÷≢ ⋄ avg 3 1 4 1 5       ]dag +/2×⍳1000
           whole programs: examples/       all glyphs: aplomb prims
Leave      Ctrl-D or )off; Ctrl-C stops a line and keeps your names
";

pub fn help(call: &mut Call<'_>) -> Result<(), Error> {
    let Some(topic) = call.expr() else {
        call.show(&format!("{OVERVIEW}{}{EXAMPLES}", commands()));
        return Ok(());
    };
    let Some(page) = page(&topic, call.width()) else {
        let known = topics();
        let near = nearest(&topic, known.iter().map(String::as_str)).join(", ");
        let hint = match near.is_empty() {
            true => "]help with nothing behind it shows how to begin; topics are like ⍉, sum, \
                     ⎕CSV, ]dag"
                .into(),
            false => format!("near it: {near}"),
        };
        return Err(value(format!("there is no help on {topic}")).hint(hint));
    };
    call.show(&page);
    Ok(())
}

/// Pages on the program itself, by their words.
const OWN: &[(&[&str], fn(&mut Page))] = &[
    (&["keys", "glyphs", "keyboard", "backtick"], Page::keys),
    (&["notebook", "jupyter", "%%", "magic", "magics"], Page::notebook),
];

/// All that `page` knows by a word.
fn topics() -> Vec<String> {
    let glyphs = prims().flat_map(|p| p.names).chain(OTHER_KEYS.iter().flat_map(|k| k.2)).copied();
    let phrases = pieces().flat_map(|t| t.names).copied();
    let passes = PIPELINE.iter().map(|p| p.name).chain(GROUPS.iter().map(|g| g.0));
    let passes = passes
        .chain(SWITCHES.iter().chain(RECORDER).chain(DEVICES).map(|s| s.name))
        .chain(PRESETS.iter().map(|p| p.name));
    let words = glyphs
        .chain(phrases)
        .chain(COMMANDS.iter().map(|c| c.name))
        .chain(passes)
        .map(String::from);
    let forms = pieces().map(|t| t.form.to_string());
    let system = system::rows().map(|r| format!("⎕{}", r.name).to_lowercase());
    let errors = errors::ROWS.iter().map(|e| e.0.name().to_lowercase());
    let members = library::members().map(|m| m.0.to_string());
    let dfns = std::iter::once(library::LIBRARY.to_string()).chain(members);
    let own = OWN.iter().flat_map(|own| own.0).map(|word| word.to_string());
    let phrases: Vec<numpy::Phrase> = numpy::phrases().collect();
    let of_numpy = phrases.iter().flat_map(|p| p.names()).map(String::from);
    words.chain(forms).chain(system).chain(errors).chain(dfns).chain(own).chain(of_numpy).collect()
}

/// The page of a topic, `width` columns wide: everything the tables say about it.
pub fn page(topic: &str, width: usize) -> Option<String> {
    let topic = topic.trim();
    let mut page = Page::new(width);
    by_form(topic, &mut page);
    if page.is_empty() {
        by_name(topic, &mut page);
    }
    if page.is_empty() {
        by_glyphs(topic, &mut page);
    }
    if topic.to_lowercase() == library::LIBRARY {
        page.library(library::members());
    } else if page.is_empty() {
        library::members().filter(|m| m.0 == topic).for_each(|m| page.member(m));
    }
    if page.is_empty() {
        let word = topic.trim_start_matches("np.");
        numpy::phrases().filter(|p| p.is_called(word)).for_each(|p| page.phrase(&p));
    }
    page.text()
}

/// A glyph or a phrase as it is written.
fn by_form(topic: &str, page: &mut Page) {
    prims().filter(|p| topic.chars().eq([p.glyph])).for_each(|p| page.glyph(p));
    OTHER_KEYS.iter().filter(|k| topic.chars().eq([k.0])).for_each(|k| page.key(k));
    let is_phrase = topic.chars().count() > 1;
    idioms::ROWS.iter().filter(|t| is_phrase && t.form == topic).for_each(|t| page.topic(t));
    notation::ROWS
        .iter()
        .filter(|t| t.form == topic || t.names.contains(&topic))
        .for_each(|t| page.topic(t));
}

/// A word, as NumPy writes it too: `np.count_nonzero`.
fn by_name(topic: &str, page: &mut Page) {
    let lower = topic.to_lowercase();
    OWN.iter().filter(|own| own.0.contains(&lower.as_str())).for_each(|own| own.1(page));
    // `%%why` is `]why`.
    let lower = match lower.strip_prefix("%%").filter(|name| !name.is_empty()) {
        Some(name) => format!("]{name}"),
        None => lower,
    };
    let word = lower.strip_prefix("np.").unwrap_or(&lower);
    let spaced = word.replace('_', " ");
    let is = |names: &[&str]| {
        names.iter().any(|n| *n == word || *n == spaced || n.to_lowercase() == word)
    };
    pieces().filter(|t| is(t.names) || t.form == word).for_each(|t| page.topic(t));
    OTHER_KEYS.iter().filter(|k| is(k.2)).for_each(|k| page.key(k));
    let named = prims().filter(|p| is(p.names) || uses(p).iter().any(|(_, m)| is(&[m.name])));
    named.for_each(|p| page.glyph(p));
    if let Some(name) = word.strip_prefix('⎕') {
        let name = name.to_uppercase();
        match system::find(&name) {
            Ok(row) => page.system(row),
            Err(e) if e.parts().kind == Kind::Nonce => page.absent(&name),
            Err(_) => {}
        }
    }
    COMMANDS
        .iter()
        .filter(|c| c.name == word || c.name[1..] == *word)
        .for_each(|c| page.command(c));
    PIPELINE.iter().filter(|p| p.name == word).for_each(|p| page.pass(p));
    GROUPS.iter().filter(|g| g.0 == word).for_each(|g| page.group(g));
    for (what, all) in
        [("a rule", SWITCHES), ("before any pass", RECORDER), ("on a device", DEVICES)]
    {
        all.iter().filter(|s| s.name == word).for_each(|s| page.switch(what, s));
    }
    PRESETS.iter().filter(|p| p.name == word).for_each(|p| page.preset(p));
    RULES.iter().filter(|r| r.name == word).for_each(|r| page.rule(r));
    let is_error = |kind: Kind| {
        let name = kind.name().to_lowercase();
        name == word || name.strip_suffix(" error") == Some(word)
    };
    errors::ROWS.iter().filter(|e| is_error(e.0)).for_each(|e| page.error(e));
}

/// Several glyphs, one after the other, where all of them are known.
fn by_glyphs(topic: &str, page: &mut Page) {
    let mut glyphs: Vec<char> = Vec::new();
    for c in topic.chars().filter(|c| !c.is_whitespace()) {
        if !glyphs.contains(&c) {
            glyphs.push(c);
        }
    }
    if glyphs.len() <= 8 && glyphs.iter().all(|c| find(*c).is_some()) {
        glyphs.into_iter().filter_map(find).for_each(|p| page.glyph(p));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use aplomb_viz::why::WIDTH;

    #[test]
    fn the_overview_fits_a_screen() {
        let text = format!("{OVERVIEW}{}{EXAMPLES}", commands());
        assert!(text.lines().count() <= 24, "{}", text.lines().count());
        assert!(text.lines().all(|l| l.chars().count() < 80), "{text}");
    }

    #[test]
    fn every_topic_has_a_page() {
        for topic in topics() {
            assert!(page(&topic, WIDTH).is_some(), "{topic}");
        }
        for topic in [
            "⍉",
            "+",
            "sum",
            "]dag",
            "dag",
            "push-down",
            "fusion",
            "⎕io",
            "LENGTH ERROR",
            "domain",
            "⍵",
        ] {
            assert!(page(topic, WIDTH).is_some(), "{topic}");
        }
        assert!(page("no such thing", WIDTH).is_none() && page("", WIDTH).is_none());
    }

    #[test]
    fn what_newcomers_ask_for_is_there() {
        let asked = "argsort cumsum mean axis if loop guard dfn sort unique where reduce map \
                     filter sum any all argmax \
            concatenate zeros arange len abs sqrt outer broadcasting dtype lambda try \
            np.count_nonzero +.× ∘. [] () {} : \
            :: ⍺⍺ ⍵⍵ ∇∇ ∇ ⍵ ⍺ ⍬ ← ⋄ ⍝ ¯ [k] train strand :If ⎕NS +/÷≢ +÷ frames";
        for topic in asked.split_whitespace() {
            assert!(page(topic, WIDTH).is_some(), "{topic}");
        }
        assert!(
            page("⎕NA", WIDTH).is_some_and(|p| p.contains("not in Aplomb"))
                && page("⎕NOSUCH", WIDTH).is_none()
        );
    }

    /// Whatever the page for those who come from NumPy names has help, by its whole name and by the
    /// last part of it.
    #[test]
    fn what_numpy_has_is_found_by_its_name() {
        let mut named = 0;
        for phrase in numpy::phrases() {
            for name in phrase.names() {
                let last = name.rsplit('.').next().unwrap_or(name);
                for topic in [format!("np.{name}"), name.into(), last.into()] {
                    assert!(page(&topic, WIDTH).is_some(), "{topic}");
                }
                named += 1;
            }
        }
        assert!(named > 80, "{named}");
        let told = page("percentile", WIDTH).expect("a page of that name");
        assert!(told.contains("np.percentile(v, 25)") && told.contains("gives 1"), "{told}");
    }

    #[test]
    fn pages_are_folded_between_words() {
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        for topic in topics() {
            let (wide, narrow) =
                (page(&topic, 1000).unwrap_or_default(), page(&topic, 40).unwrap_or_default());
            assert_eq!(words(&wide), words(&narrow), "{topic}");
            assert!(narrow.lines().count() >= wide.lines().count(), "{topic}");
        }
        assert!(page("⍉", 60).is_some_and(|p| p.lines().all(|l| l.chars().count() <= 60)));
    }

    #[test]
    fn a_slip_finds_what_was_meant() {
        let known = topics();
        let near = |word| nearest(word, known.iter().map(String::as_str));
        assert_eq!(near("transpse").first(), Some(&"transpose"));
        assert_eq!(near("cumsm").first(), Some(&"cumsum"));
        assert!(near("frobnicate").is_empty());
    }
}
