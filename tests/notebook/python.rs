//! The clients of others: jupyter_kernel_test, and nbclient with the example notebook. They need
//! `tools/extras`.

use crate::support::{extras, program};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Installs the kernel into a folder and runs a script that finds it there.
fn python(what: &str, script: &str, args: &[&Path]) {
    let Some(python) = extras(what) else { return };
    let home = tempfile::tempdir().expect("a folder");
    let aplomb = env!("CARGO_BIN_EXE_aplomb");
    let installed =
        Command::new(aplomb).args(["kernel", "install", "--prefix"]).arg(home.path()).output();
    let installed = installed.expect("aplomb");
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let script = root().join("tests/notebook").join(script);
    let mut command = Command::new(&python);
    // The user's own kernels and settings are none of this.
    command
        .arg(script)
        .args(args)
        .env("HOME", home.path())
        .env("JUPYTER_PATH", home.path().join("share/jupyter"));
    command
        .env("JUPYTER_DATA_DIR", home.path().join("data"))
        .env("JUPYTER_RUNTIME_DIR", home.path().join("run"));
    let out = command.output().expect("python");
    let says =
        [out.stdout, out.stderr].map(|t| String::from_utf8_lossy(&t).into_owned()).join("\n");
    println!("{says}");
    assert!(out.status.success(), "{says}");
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_kernel_passes_jupyter_kernel_test() {
    python("jupyter_kernel_test", "kernel_test.py", &[]);
}

/// A test of what is on the page, not what is on the wire. The browser is the system's.
/// `UPDATE=1` writes the picture of the README.
#[test]
fn a_lab_has_keys_bar_mode_font_tables_and_live_views() {
    let Some(browser) = program("chromium") else { return };
    let picture = root().join("docs/pictures/notebook.png");
    let picture = std::env::var_os("UPDATE").is_some().then_some(picture);
    let args: Vec<&Path> =
        [Some(&browser), picture.as_ref()].into_iter().flatten().map(|p| &**p).collect();
    python("jupyterlab and playwright", "lab/lab.py", &args);
}

/// By the browser and by LaTeX, whichever of them is there.
#[test]
fn nbconvert_makes_a_pdf_with_the_words_and_every_picture() {
    let browser = program("chromium").unwrap_or_else(|| "-".into());
    python("nbconvert, playwright and pypdf", "pdf.py", &[&browser]);
}

/// The package of `editors/python`, as pip would install it.
#[test]
fn papermill_writes_parameters_and_jupytext_reads_scripts() {
    python("papermill and jupytext", "tools.py", &[]);
}

/// The extension of `editors/` without the editor, and the comm of a live view without a lab.
#[test]
fn the_extension_of_vs_code_types_every_key_and_a_comm_may_answer_anything() {
    python("playwright", "scripts.py", &[]);
}

/// The notebooks of the examples; each runs in its own folder, as in a lab.
#[test]
fn the_example_notebooks_run_twice_with_the_output_they_have() {
    let files = std::fs::read_dir(root().join("examples")).expect("examples");
    let mut books: Vec<PathBuf> = files.map(|f| f.expect("a file").path()).collect();
    books.retain(|p| p.extension().is_some_and(|e| e == "ipynb"));
    books.sort();
    assert!(!books.is_empty());
    let books: Vec<&Path> = books.iter().map(|p| &**p).collect();
    python("nbclient", "run_notebook.py", &books);
}

#[test]
fn install_writes_a_kernelspec_and_replaces_an_old_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let spec = folder.path().join("share/jupyter/kernels/aplomb");
    std::fs::create_dir_all(&spec).expect("a folder");
    std::fs::write(spec.join("stale"), "").expect("a file");
    for _ in 0..2 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aplomb"));
        let out = command
            .args(["kernel", "install", "--prefix"])
            .arg(folder.path())
            .output()
            .expect("aplomb");
        assert!(
            out.status.success() && String::from_utf8_lossy(&out.stdout).contains("kernels/aplomb")
        );
    }
    let text = std::fs::read_to_string(spec.join("kernel.json")).expect("a kernelspec");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(
        json["argv"][0]
            .as_str()
            .is_some_and(|p| Path::new(p).is_absolute() && Path::new(p).exists())
    );
    assert_eq!(
        (&json["interrupt_mode"], &json["argv"][4]),
        (&"message".into(), &"{connection_file}".into())
    );
    for logo in ["logo-32x32.png", "logo-64x64.png"] {
        assert!(std::fs::read(spec.join(logo)).expect(logo).starts_with(b"\x89PNG"));
    }
    assert!(!spec.join("stale").exists());
    let left: Vec<_> =
        std::fs::read_dir(spec.parent().expect("kernels")).expect("a folder").collect();
    assert_eq!(left.len(), 1, "nothing is left beside it: {left:?}");
    let none = Command::new(env!("CARGO_BIN_EXE_aplomb"))
        .args(["kernel", "install", "--sys-prefix"])
        .env_remove("VIRTUAL_ENV")
        .env_remove("CONDA_PREFIX")
        .output()
        .expect("aplomb");
    assert!(
        !none.status.success() && String::from_utf8_lossy(&none.stderr).contains("VIRTUAL_ENV")
    );
}
