//! The printed CUDA compiles for sm_90 with NVRTC, without a GPU.

mod support;

use aplomb_lang::kir;
use std::process::Command;
use support::{BLACK_SCHOLES, extras, session, traced};

const LINES: &[&str] = &[
    "2×A+1",
    "+/A×B",
    "1+⌽A",
    "(+/÷≢)A",
    "⌈/M",
    "+⌿M",
    "2×+/*M",
    "+/⍉M",
    "(A>3)+A=B",
    "(⌊A)+3|B",
    "7↑A",
    "¯7↑1+A",
    "(1○A)×B*0.5",
    "⍟A÷B",
    "M+.×⍉M",
    "∘.×⍨A",
    "(+/A)(⌈/A)",
    "~A>2",
    "(A>1)∧B<4",
    "+/A,⌽B",
    "M⍪2×⌽M",
    "2×+\\A-B",
    "⌈⍀M",
    "1+A[1+6|⌊B×A]",
    "M[1+L;1+3|⌊B]",
    "(A>1)/A+B",
    "0 1⌿M×2",
];

#[test]
fn every_launch_compiles_for_sm_90() {
    let Some(python) = extras("the NVRTC wheel") else { return };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let dir = std::env::temp_dir().join(format!("aplomb-cuda-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    let mut s = session();
    let mut sources = vec![traced(&mut s, &["A←0.5×⍳6 ⋄ B←7-⍳6 ⋄ M←2 3⍴A ⋄ L←0 1 1 0", "A B M L"])];
    sources.extend(LINES.iter().map(|line| traced(&mut s, &[line])));
    let mut lines = BLACK_SCHOLES.to_vec();
    lines.push("call put");
    sources.push(traced(&mut s, &lines));
    let mut launches = 0;
    for (k, trace) in sources.iter().enumerate() {
        assert!(trace.diagnostics.is_empty(), "{:?}", trace.diagnostics);
        let texts: Vec<_> = trace.kernels.iter().filter_map(|k| k.cuda.clone()).collect();
        launches += texts.len();
        if texts.is_empty() {
            continue;
        }
        // Two evaluations of one line both begin with k0.
        for (j, one) in texts.iter().enumerate() {
            let file = dir.join(format!("{k}-{j}.cu"));
            std::fs::write(&file, kir::program(std::slice::from_ref(one))).expect("a file");
            let out = Command::new(&python)
                .arg(root.join("tools/nvrtc.py"))
                .arg(&file)
                .args(["--arch", "sm_90"])
                .output()
                .expect("python");
            let said = String::from_utf8_lossy(&out.stdout);
            let json: serde_json::Value = serde_json::from_str(&said).unwrap_or_default();
            assert!(out.status.success(), "{}\n{said}\n{}", trace.statement, one.text);
            assert_eq!(json["spills"], 0, "{}: {said}", trace.statement);
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    assert!(launches >= LINES.len(), "{launches}");
}
