//! Values that are shown, and those that are not: it does not depend on the count of items, by
//! which calls run together or one after the other, nor on which of them is the last.

use crate::support::{Heard, session};
use aplomb_ground::protocol::{Event, Request};
use aplomb_kernel::session::Session;

const PAGE: &str = include_str!("shown.txt");

/// Counts of items around those from which calls run together.
const COUNTS: [usize; 7] = [1, 2, 3, 16, 17, 40, 1500];

/// Whether a line shows a value.
fn shows(session: &mut Session, line: &str) -> bool {
    let mut heard = Heard::default();
    let request = Request::Execute { code: line.into(), name: "line".into(), silent: false };
    session.handle(request, &mut heard);
    for event in &heard.0 {
        assert!(!matches!(event, Event::Error(_)), "{line}: {event:?}");
    }
    heard.0.iter().any(|event| matches!(event, Event::Result(_)))
}

#[test]
fn whether_a_value_is_shown_does_not_depend_on_the_count_of_items() {
    let (mut session, mut wrong, mut lines) = (session(), Vec::new(), 0);
    for line in PAGE.lines().filter_map(|line| line.strip_prefix("      ")) {
        assert!(!shows(&mut session, line), "{line}");
    }
    let rows = PAGE.lines().filter_map(|line| {
        let row = line.strip_prefix("- ").map(|line| (line, false));
        row.or_else(|| line.strip_prefix("shown ").map(|line| (line, true)))
    });
    for (line, wanted) in rows {
        lines += 1;
        for count in COUNTS {
            for items in ["¯5 5", "5 ¯5"] {
                assert!(!shows(&mut session, &format!("w←{count}⍴{items}")));
                if shows(&mut session, line.trim()) != wanted {
                    wrong.push(format!("{} for {count} items, {items}", line.trim()));
                }
            }
        }
    }
    assert!(lines > 30, "{lines}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
