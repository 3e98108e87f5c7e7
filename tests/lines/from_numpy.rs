//! `docs/FROM-NUMPY.md`: every row's expression has the value that stands beside it.

use aplomb::commands::numpy::{PAGE, Phrase, phrases};
use assert_cmd::Command;
use std::time::Duration;

/// The lines of the page's session: the names that rows use.
fn names(page: &str) -> Vec<&str> {
    let block =
        page.split("```apl\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a session");
    block.lines().map(str::trim).collect()
}

/// The words before the last statement of a row that begins with an assignment, and the last
/// statement.
fn statements(expression: &str) -> (&str, &str) {
    let assigns = expression.starts_with("x←") || expression.starts_with("⎕RL←");
    expression.rsplit_once(" ⋄ ").filter(|_| assigns).unwrap_or(("", expression))
}

#[test]
fn every_row_has_its_value() {
    let rows: Vec<Phrase> = phrases().collect();
    assert!(rows.len() >= 40, "{} rows", rows.len());
    // A row of another number of cells is none, which nobody would miss.
    let lines = PAGE.lines().filter(|line| line.starts_with("| `")).count();
    assert_eq!(rows.len(), lines);
    let ask = |row: &Phrase| {
        let (before, last) = statements(&row.expression);
        let mut lines: Vec<String> = names(PAGE).into_iter().map(String::from).collect();
        lines.extend([
            before.into(),
            format!("found←{last}"),
            format!("({})≡found", row.value),
            "found".into(),
        ]);
        serde_json::json!({ "id": row.at, "lines": lines }).to_string() + "\n"
    };
    let input: String = rows.iter().map(ask).collect();
    let mut command = Command::cargo_bin("aplomb").unwrap();
    command
        .args(["eval", "--batch"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .timeout(Duration::from_secs(60));
    let out = String::from_utf8(command.write_stdin(input).output().unwrap().stdout).unwrap();
    let answers: Vec<serde_json::Value> =
        out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(answers.len(), rows.len());
    let wrong = rows.iter().zip(&answers).filter_map(|(row, answer)| {
        let shown = answer["display"].as_str().unwrap_or_default();
        let holds = answer["ok"] == true && shown.starts_with("1\n");
        let found = shown.strip_prefix("0\n").unwrap_or(shown);
        let told = || {
            format!(
                "line {}: {}\n  wants {}, found {found}{}",
                row.at, row.expression, row.value, answer["error"]
            )
        };
        (!holds).then(told)
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
