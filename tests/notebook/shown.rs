//! The things that a notebook shows beside text: values that a program prints, data of any kind,
//! charts, images.

use crate::running::Running;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

/// The last thing that a cell displayed, by kind.
fn displayed(kernel: &Running, code: &str) -> Value {
    let answer = kernel.run(code);
    assert_eq!(answer.status(), "ok", "{code}: {:?}", answer.reply);
    answer.all("display_data").pop().expect("something is shown")["data"].clone()
}

/// `⎕←x` was text where `x` was a table.
#[test]
fn what_is_printed_looks_as_what_is_asked_for() {
    let kernel = Running::start();
    for value in ["2 2⍴1.5 10 0.25 3", "(1 2)(3(4 5))", "0 3⍴0", "⍬", "1 'a' '1'"] {
        let result = kernel.run(value);
        let asked = &result.all("execute_result")[0]["data"];
        assert_eq!(*asked, displayed(&kernel, &format!("⎕←{value}")), "{value}");
        assert!(asked["text/html"].is_string(), "{value}: {asked}");
    }
    let line = kernel.run("⎕←'' ⋄ ⎕←⍳3 ⋄ ⎕←'two'");
    let streams = line.all("stream");
    let said: String = streams.iter().filter_map(|s| s["text"].as_str()).collect();
    assert_eq!((said.as_str(), line.all("display_data").len()), ("\n1 2 3\ntwo\n", 0));
    // A loop that prints tables does not fill the page with them.
    let many = kernel.run("{⊢⎕←2 2⍴⍵}¨⍳120 ⋄ 0");
    assert_eq!(many.all("display_data").len(), 100);
}

#[test]
fn boxes_are_asked_for_once_for_text_and_page() {
    let kernel = Running::start();
    let page = |kernel: &Running| {
        let shown = kernel.run("(1 2)'ab'");
        shown.all("execute_result")[0]["data"]["text/html"].as_str().expect("a page").to_string()
    };
    let plain = page(&kernel);
    kernel.run("]box on -style=max");
    let framed = page(&kernel);
    assert!(!plain.contains("<caption") && framed.contains(">→∊</caption>"), "{framed}");
}

#[test]
fn data_of_a_kind_is_shown_as_that_kind() {
    let kernel = Running::start();
    let html = displayed(&kernel, "'text/html'⎕SHOW'<b>3</b>'");
    assert_eq!(html["text/html"], "<b>3</b>");
    assert_eq!(html["text/plain"], "(text/html, 8 bytes: a page shows it)");
    let lines = displayed(&kernel, "'text/markdown'⎕SHOW'# a' 'b'");
    assert_eq!([&lines["text/markdown"], &lines["text/plain"]], ["# a\nb"; 2]);
    let json = displayed(&kernel, "'application/json'⎕SHOW'{\"a\":[1,2]}'");
    assert_eq!(json["application/json"]["a"][1], 2);
    assert_eq!(displayed(&kernel, "'image/gif'⎕SHOW 71 73 70 56")["image/gif"], "R0lGOA==");
    for wrong in [
        "'html'⎕SHOW'x'",
        "'text/html'⎕SHOW 3 300",
        "'application/json'⎕SHOW'{'",
        "'text/html'⎕SHOW 200 201",
        "⎕SHOW'x'",
    ] {
        assert_eq!(kernel.run(wrong).status(), "error", "{wrong}");
    }
}

#[test]
fn charts_and_images_have_their_forms() {
    let kernel = Running::start();
    let chart = displayed(&kernel, "(⎕PLOT⍠'Title' '<script>'⍠'Kind' 'bars')3 1 2");
    let page = chart["text/html"].as_str().expect("a page");
    let data = page.split("base64,").nth(1).and_then(|d| d.split('"').next()).expect("data");
    let svg = BASE64_STANDARD.decode(data).expect("base64");
    let svg = String::from_utf8(svg).expect("SVG");
    assert!(svg.contains("&lt;script&gt;") && !svg.contains("<script"), "{svg}");
    assert!(page.starts_with("<img alt=\"chart script\""), "{page}");
    assert!(chart["text/plain"].as_str().is_some_and(|t| t.lines().count() > 10), "{chart}");
    assert!(displayed(&kernel, "]plot -kind=points 1○0.1×⍳60")["image/png"].is_string());
    let image = displayed(&kernel, "]img 16 16⍴⍳256-1");
    assert!(image["image/png"].as_str().is_some_and(|t| t.starts_with("iVBORw0KGgo")), "{image}");
    assert!(image["text/plain"].as_str().is_some_and(|t| t.contains('█')), "{image}");
    for wrong in ["]img 3⍴1", "]img 1E4 1E4⍴1", "⎕PLOT'abc'", "]plot", "(⎕PLOT⍠'Log' 'y')0 1"]
    {
        assert_eq!(kernel.run(wrong).status(), "error", "{wrong}");
    }
}
