//! The SVG has the wires of the text picture: read back, every edge is there, in operand order, and
//! no other.

#[allow(dead_code)]
mod common;

use aplomb_viz::svg::{Panel, draw, image};
use aplomb_viz::{find_pass, text};
use std::collections::BTreeMap;

/// The values of an attribute, element by element of one name.
fn elements<'a>(svg: &'a str, name: &str) -> Vec<&'a str> {
    svg.split('<')
        .filter(|e| e.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')))
        .collect()
}

fn attribute<'a>(element: &'a str, name: &str) -> &'a str {
    let start = element.find(&format!(" {name}=\"")).map(|k| k + name.len() + 3).expect(name);
    element[start..].split('"').next().expect(name)
}

fn number(element: &str, name: &str) -> f64 {
    attribute(element, name).parse().expect(name)
}

struct Box {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    node: u32,
}

/// For each node the operands whose wires end on its upper edge, left to right.
fn read_back(svg: &str, nodes: usize) -> BTreeMap<u32, Vec<u32>> {
    let words = elements(svg, "text");
    // The ground is the first rectangle; the legend's samples hold no text.
    let boxes: Vec<Box> = elements(svg, "rect")[1..]
        .iter()
        .filter_map(|r| {
            let (x, y, width, height) =
                (number(r, "x"), number(r, "y"), number(r, "width"), number(r, "height"));
            let holds = |t: &&&str| {
                let at: f64 =
                    attribute(t, "x").split(' ').next().expect("x").parse().expect("a number");
                (x..x + width).contains(&at) && (y..y + height).contains(&number(t, "y"))
            };
            let label = words.iter().find(holds)?.split('>').nth(1)?;
            let node = label.strip_prefix('n')?.parse().ok()?;
            Some(Box { x, y, width, height, node })
        })
        .collect();
    assert_eq!(boxes.len(), nodes);
    let mut found: BTreeMap<u32, Vec<(f64, u32)>> =
        boxes.iter().map(|b| (b.node, Vec::new())).collect();
    for path in elements(svg, "path") {
        let mut ends: Vec<(f64, f64, f64)> = Vec::new();
        for piece in attribute(path, "d").split('M').filter(|p| p.contains('V')) {
            let (start, to) = piece.split_once('V').expect("vertical");
            let (x, from) = start.split_once(' ').expect("a point");
            ends.push((x.parse().expect("x"), from.parse().expect("y"), to.parse().expect("y")));
        }
        let source = boxes.iter().filter(|b| {
            ends.iter()
                .any(|(x, from, _)| *from == b.y + b.height && (b.x..=b.x + b.width).contains(x))
        });
        let sources: Vec<u32> = source.map(|b| b.node).collect();
        let [source] = sources.as_slice() else { panic!("a wire leaves {sources:?}") };
        for b in &boxes {
            let into =
                ends.iter().filter(|(x, _, to)| *to == b.y && (b.x..=b.x + b.width).contains(x));
            found.get_mut(&b.node).expect("a box").extend(into.map(|(x, _, _)| (*x, *source)));
        }
    }
    let in_order = |mut edges: Vec<(f64, u32)>| {
        edges.sort_by(|a, b| a.0.total_cmp(&b.0));
        edges.into_iter().map(|e| e.1).collect()
    };
    found.into_iter().map(|(node, edges)| (node, in_order(edges))).collect()
}

#[test]
fn random_graphs_are_read_back() {
    let mut state = 5u64;
    let mut roll = |n: u32| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % n
    };
    for seed in 0..300 {
        let n = 2 + roll(40);
        let near = 1 + roll(n);
        let operands: Vec<Vec<u32>> = (0..n)
            .map(|k| {
                let count = if k == 0 || roll(4) == 0 { 0 } else { 1 + roll(2) };
                (0..count).map(|_| k - 1 - roll(near.min(k))).collect()
            })
            .collect();
        let trace = common::trace(&operands);
        let graph = find_pass(&trace, 0, None).expect("a pass");
        let picture = text::draw(&graph, false);
        let svg = draw(&[Panel { heading: String::new(), graph, folded: false }]);
        let read = read_back(&svg, operands.len());
        for (k, wanted) in operands.iter().enumerate() {
            assert_eq!(
                read.get(&(k as u32)),
                Some(wanted),
                "seed {seed}, node {k} in\n{picture}\n{svg}"
            );
        }
    }
}

#[test]
fn labels_are_escaped_and_nothing_is_fetched() {
    let mut trace = common::trace(&[vec![], vec![0]]);
    trace.nodes[0].name = Some("<b>&\"'\u{1}".into());
    trace.nodes[1].op = "]]><script>".into();
    let panel = || Panel {
        heading: "<i>".into(),
        graph: find_pass(&trace, 0, None).expect("a pass"),
        folded: false,
    };
    let svg = draw(&[panel(), panel()]);
    assert!(svg.contains("&lt;b&gt;&amp;&quot;'\u{fffd}") && svg.contains("&lt;i&gt;"), "{svg}");
    let apart = svg.replace("http://www.w3.org/2000/svg", "");
    assert!(
        ["<script", "http", "@import", "href", "<style"].iter().all(|word| !apart.contains(word)),
        "{svg}"
    );
    let img = image(&[panel()]);
    assert!(
        img.starts_with("<img alt=\"") && img.ends_with("\">") && img.matches('<').count() == 1,
        "{img}"
    );
}
