"""Papermill and jupytext with our package: parameters that arrive, notebooks as scripts and back."""
import json
import os
import pathlib
import subprocess
import sys
import tomllib

HOME = pathlib.Path(os.environ["HOME"])
ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "editors/python"
failed = []


def check(says, holds, seen=""):
    print("ok  " if holds else "FAIL", says, "" if holds else f": {seen!r}")
    if not holds:
        failed.append(says)


def installed():
    """What pip would write, without pip: the package's entry points beside it."""
    site = HOME / "site"
    info = site / "aplomb_notebooks-0.1.0.dist-info"
    info.mkdir(parents=True)
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    lines = [f"[{group}]\n{name} = {what}" for group, rows in project["entry-points"].items() for name, what in rows.items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    (site / "aplomb_notebooks").symlink_to(PACKAGE / "aplomb_notebooks")
    sys.path.insert(0, str(site))


# A parameter, and what a cell says of it: its text and its shape.
PARAMETERS = {
    "whole": (-3, "¯3", ""),
    "real": (-1.5e-300, "¯1.5E¯300", ""),
    "yes": (True, "1", ""),
    "text": ("it's ⍴", "it's ⍴", "6"),
    "letter": ("a", "a", "1"),
    "nothing_in_it": ("", "", "0"),
    "lines": ("a\nb", "a\nb", "3"),
    "row": ([1, -2.5, 3], "1 ¯2.5 3", "3"),
    "one": ([7], "7", "1"),
    "none_in_it": ([], "", "0"),
    "words": (["Ann", "Bob"], " Ann  Bob ", "2"),
    "one_word": (["Ann"], " Ann ", "1"),
    "mixed": ([1, "ab", [2, 3]], "1  ab  2 3 ", "3"),
    "deep": ([[1, 2], [3, [4]]], " 1 2  3  4  ", "2"),
    "null": (None, " null ", ""),
}


def papermill():
    import papermill as pm

    names = list(PARAMETERS)
    tagged = {"cell_type": "code", "id": "p", "metadata": {"tags": ["parameters"]}, "execution_count": None, "outputs": [],
              "source": "whole←1 ⍝ how many\ntext←'a''⍝b'  ⍝ what it says\n⍝ no parameter\nf←{⍵+1}"}
    ask = [{"cell_type": "code", "id": f"c{k}", "metadata": {}, "execution_count": None, "outputs": [],
            "source": f"⎕←{name}\n⎕←⍴{name}"} for k, name in enumerate(names)]
    ask.append({**ask[0], "id": "d", "source": "⎕←record.a"})
    spec = {"name": "aplomb", "display_name": "APL (Aplomb)", "language": "apl"}
    book = HOME / "parameters.ipynb"
    book.write_text(json.dumps({"cells": [tagged, *ask], "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}))
    values = {name: value for name, (value, *_) in PARAMETERS.items()} | {"record": {"a": [1, 2], "b c": "it's"}}
    done = pm.execute_notebook(str(book), str(HOME / "done.ipynb"), parameters=values, progress_bar=False)
    injected = [c for c in done.cells if "injected-parameters" in c.metadata.get("tags", [])]
    check("papermill writes the parameters as APL", len(injected) == 1 and injected[0].source.startswith("⍝ Parameters\nwhole←¯3"),
          injected)
    said = ["\n".join(o["text"].rstrip("\n") if "text" in o else o["data"]["text/plain"] for o in c.outputs)
            for c in done.cells[2:]]
    for name, text in zip(names, said):
        _, shown, shape = PARAMETERS[name]
        wanted = f"{shown}\n{shape}".rstrip("\n")
        check(f"{name} arrives", text.rstrip("\n") == wanted, (text, wanted))
    check("what has names arrives", said[-1] == "1 2", said[-1])
    told = pm.inspect_notebook(str(book))
    check("the parameters of a book are told", {k: (v["default"], v["help"]) for k, v in told.items()} == {
        "whole": ("1", "how many"), "text": ("'a''⍝b'", "what it says"), "f": ("{⍵+1}", "")}, told)
    for bad in [{"a b": 1}, {"a": float("nan")}]:
        try:
            pm.execute_notebook(str(book), str(HOME / "bad.ipynb"), parameters=bad, progress_bar=False)
            check(f"{bad} is refused", False)
        except ValueError as e:
            check(f"{bad} is refused in words", "that APL has" in str(e), str(e))


def jupytext():
    from aplomb_notebooks import scripts  # before jupytext
    import jupytext

    scripts.register()
    program = json.loads((pathlib.Path(os.environ["JUPYTER_PATH"]) / "kernels/aplomb/kernel.json").read_text())["argv"][0]
    books = sorted((ROOT / "examples").glob("*.ipynb"))
    for path in books:
        book = jupytext.read(path)
        text = jupytext.writes(book, fmt="apl:percent")
        again = jupytext.reads(text, fmt="apl:percent")
        own = lambda b: [(c.cell_type, c.source) for c in b.cells]
        check(f"{path.name} is the same after .apl", own(book) == own(again), [p for p in zip(own(book), own(again)) if p[0] != p[1]][:2])
        check("its kernel stays", again.metadata["kernelspec"]["name"] == "aplomb", again.metadata)
    text = "⍝ %%\n⎕←2+3\n\n⍝ %% [markdown]\n⍝ # Words\n\n⍝ %%\n%%why\n+/2×⍳2000\n"
    book = jupytext.reads(text, fmt="apl:percent")
    check("a script is read as cells", [(c.cell_type, c.source) for c in book.cells] ==
          [("code", "⎕←2+3"), ("markdown", "# Words"), ("code", "%%why\n+/2×⍳2000")], book.cells)
    script = HOME / "table.apl"
    script.write_text(jupytext.writes(jupytext.read(ROOT / "examples/table.ipynb"), fmt="apl:percent"))
    ran = subprocess.run([program, script], cwd=ROOT / "examples", capture_output=True, text=True)
    check("a notebook that is a script runs as one", ran.returncode == 0 and "Bergen" in ran.stdout, ran.stderr[-500:])
    check("jupytext's command has .apl", subprocess.run(
        [sys.executable, "-c", "from aplomb_notebooks.scripts import main; main()", "--to", "ipynb", str(script)],
        env={**os.environ, "PYTHONPATH": str(HOME / "site")}, capture_output=True).returncode == 0)


installed()
for part in [papermill, jupytext]:
    try:
        part()
    except Exception as e:
        check(part.__name__, False, repr(e)[:1500])
sys.exit(len(failed))
