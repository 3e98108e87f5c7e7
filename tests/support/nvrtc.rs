//! The NVRTC of the extras, which needs no GPU, and what it makes of a text.

#![allow(dead_code)]

use crate::{standin, support};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the wheels' libraries and programs. None: they are not there, and the test says
/// so.
fn site(what: &str) -> Option<PathBuf> {
    let python = support::extras(what)?;
    Some(python.parent().and_then(|p| p.parent()).expect("an environment").join("lib"))
}

/// Runs the rest of the test `name` in a process that finds the wheel: true there.
#[track_caller]
pub fn is_child(name: &str) -> bool {
    let Some(site) = site("the NVRTC wheel") else { return false };
    let wheel = walk(&site, "libnvrtc-builtins").expect("the wheel");
    standin::is_child_with(name, &[("LD_LIBRARY_PATH", wheel.to_str().expect("a path"))])
}

pub fn nvdisasm() -> Option<PathBuf> {
    let site = site("nvdisasm")?;
    support::found(walk(&site, "nvdisasm").map(|f| f.join("nvdisasm")), "nvdisasm")
}

/// Of each kernel of a binary, its instructions with their modifiers, as nvdisasm prints them.
pub fn instructions(nvdisasm: &Path, cubin: &[u8]) -> Vec<(String, Vec<String>)> {
    let folder = standin::folder();
    let at = folder.path().join("goldens.cubin");
    std::fs::write(&at, cubin).expect("a file");
    let done = Command::new(nvdisasm).arg("-c").arg(&at).output().expect("nvdisasm");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    for line in String::from_utf8_lossy(&done.stdout).lines() {
        if let Some(name) = line.trim().strip_prefix(".text.").and_then(|l| l.strip_suffix(':')) {
            out.push((name.into(), Vec::new()));
        }
        // `        /*0a40*/  @!P0 LDG.E.128.CONSTANT R4, desc[UR4][R4.64] ;`
        let Some((place, rest)) = line.trim().strip_prefix("/*").and_then(|l| l.split_once("*/"))
        else {
            continue;
        };
        let mut words = rest.split_whitespace().skip_while(|w| w.starts_with('@'));
        let (Some(word), Some((_, all))) = (words.next(), out.last_mut()) else { continue };
        if place.chars().all(|c| c.is_ascii_hexdigit()) {
            all.push(word.trim_end_matches([';', ',']).into());
        }
    }
    out
}

/// The folder below `at` with a file of that name.
fn walk(at: &Path, name: &str) -> Option<PathBuf> {
    let mut stack = vec![at.to_path_buf()];
    while let Some(folder) = stack.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                stack.push(path);
            } else if entry.file_name().to_string_lossy().starts_with(name) {
                return Some(folder);
            }
        }
    }
    None
}
