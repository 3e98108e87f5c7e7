"""nbconvert to PDF: the words of a notebook and each of its pictures, by the browser and by LaTeX.

The first argument is the browser, or `-`. A way whose programs are not there says so; one must be.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import nbclient
import nbformat
import pypdf

HOME = pathlib.Path(os.environ["HOME"])
ROOT = pathlib.Path(__file__).parents[2]
failed = []


def check(says, holds, seen=""):
    print("ok  " if holds else "FAIL", says, "" if holds else f": {seen!r}")
    if not holds:
        failed.append(says)


def convert(to, *options):
    out = subprocess.run([sys.executable, "-m", "nbconvert", "--to", to, *options, "book.ipynb"], cwd=HOME,
                         capture_output=True, text=True)
    check(f"nbconvert --to {to} ends well", out.returncode == 0, out.stderr[-1500:])


def look(way, pictures, words):
    """What is on the pages."""
    reader = pypdf.PdfReader(HOME / "book.pdf")
    text = "".join("".join(page.extract_text().split()) for page in reader.pages)
    found = set()
    for page in reader.pages:
        for thing in page["/Resources"].get("/XObject", {}).values():
            thing = thing.get_object()
            if thing["/Subtype"] == "/Image":
                found.add(thing.get_data())
    check(f"{way}: each of {pictures} pictures is in it", len(found) >= pictures, len(found))
    for word in words:
        check(f"{way}: {word} is in it", "".join(word.split()) in text, text[:400])


def by_browser(browser, pictures, words):
    """As nbconvert --to webpdf, in the browser that is there."""
    from playwright.sync_api import sync_playwright

    convert("html")
    with sync_playwright() as playwright:
        with playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"]) as chromium:
            page = chromium.new_page()
            page.goto((HOME / "book.html").as_uri())
            page.pdf(path=HOME / "book.pdf", print_background=True)
    look("browser", pictures, [*words, "∘.×"])


def by_latex(pictures, words):
    """By the template that `aplomb kernel install` writes, whose font has APL's glyphs."""
    convert("pdf", "--template", "aplomb")
    look("LaTeX", pictures, [*words, "⎕CSV", "⍉"])


def ran(name):
    """Runs a book; its pictures' forms, and its heading."""
    path = ROOT / "examples" / name
    book = nbformat.read(path, 4)
    nbclient.NotebookClient(book, kernel_name="aplomb", timeout=120, resources={"metadata": {"path": path.parent}}).execute()
    nbformat.write(book, HOME / "book.ipynb")
    outputs = [o.get("data", {}) for cell in book.cells for o in cell.get("outputs", [])]
    shown = [data for data in outputs if any(kind.startswith("image/") for kind in data)]
    check("each picture has a bitmap", all("image/png" in data for data in shown), [sorted(d) for d in shown])
    heading = next(cell.source for cell in book.cells if cell.cell_type == "markdown").splitlines()[0].lstrip("# ")
    return shown, heading


def bitmaps(shown):
    return len({data["image/png"] for data in shown})


ways = 0
if sys.argv[1] == "-":
    print("skipped: a PDF by the browser needs chromium")
else:
    shown, heading = ran("images.ipynb")
    # Charts and drawings are lines there, and no bitmaps.
    flat = [data for data in shown if not {"text/html", "image/svg+xml"} & set(data)]
    by_browser(sys.argv[1], bitmaps(flat), [heading])
    ways += 1
if shutil.which("xelatex") and shutil.which("pandoc"):
    # A drawing that is shown as SVG itself would be turned by Inkscape, also where its bitmap is there.
    shown, heading = ran("table.ipynb")
    by_latex(bitmaps(shown), [heading])
    ways += 1
else:
    print("skipped: a PDF by LaTeX needs xelatex and pandoc")
print(f"{ways} ways")
sys.exit(len(failed))
