"""JupyterLab in a browser: what a person sees and types. One line a check; the exit code is the number that failed.

The argument is the browser's program. The kernel is the one that JUPYTER_PATH finds.
"""
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import time
import urllib.request

from playwright.sync_api import sync_playwright

HOME = pathlib.Path(os.environ["HOME"])
LAB = pathlib.Path(os.environ["JUPYTER_PATH"]) / "labextensions/aplomb"
failed = []


def check(says, holds, seen=""):
    print("ok  " if holds else "FAIL", says, "" if holds else f": {seen!r}")
    if not holds:
        failed.append(says)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


CELLS = [
    "1 2",
    "(1 2)(3(4 5))",
    "'a  b' 'c'(2 2⍴⍳4)(⍳0)",
    "3 2⍴3 30 1 10 2 20",
    "⎕←2 2⍴1.5 10 0.25 3",
    "x←0.5×⍳100000\n+/x×x\n]dag",
]


def book(path):
    cells = [{"cell_type": "code", "id": f"c{k}", "metadata": {}, "execution_count": None,
              "outputs": [], "source": source} for k, source in enumerate([""] + CELLS)]
    spec = {"name": "aplomb", "display_name": "APL (Aplomb)", "language": "apl"}
    path.write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}))


# The structure of a shown value: tables are lists, code is text, the rest a number.
READ = """e => {
  const cell = td => {
    const inner = td.querySelector(':scope > table, :scope > code, :scope > small');
    return inner ? read(inner) : td.textContent.trim();
  };
  const read = e => e.tagName === 'TABLE' ? [...e.rows].map(r => [...r.cells].map(cell)) : e.textContent;
  return read(e);
}"""


def run(page, k):
    page.locator(".jp-CodeCell").nth(k).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    prompt = page.locator(".jp-CodeCell").nth(k).locator(".jp-InputArea-prompt")
    for _ in range(150):
        if re.fullmatch(r"\[\d+\]:", prompt.inner_text().strip()):
            return
        time.sleep(0.1)


def output(page, k, what):
    return page.locator(".jp-CodeCell").nth(k).locator(f".jp-OutputArea-output {what}")


def line(page):
    return page.locator(".jp-CodeCell").nth(0).locator(".cm-line").first.text_content()


def type_anew(page, text):
    page.locator(".jp-CodeCell").nth(0).locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    page.keyboard.type(text)
    return line(page)


def keys(page):
    glyphs = json.loads((LAB / "static/table.json").read_text())["glyphs"]
    wrong = [(g["key"], got) for g in glyphs if g["key"] for got in [type_anew(page, "`" + g["key"])] if got != g["glyph"]]
    check("each key behind a backtick gives its glyph", not wrong, wrong)
    check("a line of keys", type_anew(page, "x`[2 3`r`i6") == "x←2 3⍴⍳6", line(page))
    check("two backticks are one that stands", type_anew(page, "``w") == "`w", line(page))
    for name, glyph in [("rho", "⍴"), ("natural logarithm", "⍟")]:
        type_anew(page, name)
        page.keyboard.press("Tab")
        check(f"{name}, then Tab", line(page) == glyph, line(page))
    type_anew(page, "")
    buttons = page.locator(".aplomb-bar button")
    check("the bar has every glyph", buttons.all_text_contents() == [g["glyph"] for g in glyphs])
    page.locator(".jp-CodeCell").nth(0).locator(".cm-content").click()
    page.locator(".aplomb-bar button", has_text="⍳").first.hover()
    tip = page.locator(".aplomb-tip").inner_text()
    check("over a glyph stand its names", "iota" in tip, tip)
    page.locator(".aplomb-bar button", has_text="⍳").first.click()
    page.keyboard.type("5")
    check("a click puts the glyph and the cell keeps the focus", line(page) == "⍳5", line(page))
    type_anew(page, "f`[{`w+1} `, note")
    looks = page.locator(".jp-CodeCell").nth(0).locator(".cm-line span").evaluate_all("all => all.map(e => e.className)")
    wanted = {"apl-def", "apl-arrow", "apl-arg", "apl-fun", "apl-num", "apl-com", "apl-b0"}
    check("the mode knows functions, arguments, comments", wanted <= {c for l in looks for c in l.split()}, looks)


def popup(page):
    type_anew(page, "1 `r")
    page.keyboard.press("Control+z")  # the typed characters, so that the completer sees them
    type_anew(page, "re")
    page.keyboard.press("Tab")
    rows = page.locator(".jp-Completer-item")
    rows.first.wait_for(timeout=10_000)
    boxes = sorted((b["y"], b["height"]) for b in rows.evaluate_all(
        "all => all.slice(0, 12).map(e => { const b = e.getBoundingClientRect(); return {y: b.y, height: b.height}; })"))
    apart = all(a[0] + a[1] <= b[0] + 0.5 for a, b in zip(boxes, boxes[1:]))
    check("rows of the popup do not overlap", apart and all(h < 40 for _, h in boxes), boxes)
    page.keyboard.press("Escape")


def values(page):
    for k in range(1, len(CELLS) + 1):
        run(page, k)
    said = output(page, 1, "pre").first.inner_text().strip()
    check("a row of numbers is its text", said == "1 2", said)
    read = lambda k: output(page, k, ".aplomb > table").first.evaluate(READ)
    check("nesting can be seen", read(2) == [[[["1", "2"]], [["3", [["4", "5"]]]]]], read(2))
    check("texts keep blanks; ⍬ is no text", read(3) == [["a  b", "c", [["1", "2"], ["3", "4"]], "(empty)"]], read(3))
    check("⎕← shows what a value shows", read(5) == [["1.5", "10"], ["0.25", "3"]], read(5))
    output(page, 4, ".aplomb td").nth(0).click(modifiers=["Alt"])
    check("a click sorts", read(4) == [["1", "10"], ["2", "20"], ["3", "30"]], read(4))
    check("the index stays with its item", output(page, 4, ".aplomb td").nth(0).get_attribute("title") == "[2;1]")
    font = output(page, 4, ".aplomb table").evaluate("e => getComputedStyle(e).fontFamily")
    check("tables have the font", "Aplomb Mono" in font, font)
    loaded = page.evaluate("document.fonts.load(\"16px 'Aplomb Mono'\", '⍳').then(f => f.length)")
    check("the font is there", loaded == 1, loaded)


def views(page):
    k = len(CELLS)
    view = output(page, k, "").locator("xpath=self::*[contains(@class, 'aplomb-view')]").first
    view.wait_for(timeout=10_000)
    nodes = view.locator(".node")
    check("a graph has its nodes", nodes.count() > 1, nodes.count())
    nodes.last.click()
    check("a click marks a node and its source", view.locator(".node.on").count() == 1 and view.locator("mark").count() > 0)
    chip = view.locator(".chip").first
    name = chip.inner_text()
    chip.click()
    said = view.locator(".aplomb-said")
    for _ in range(100):
        if f"off: {name}" in said.inner_text():
            break
        time.sleep(0.1)
    check("a switch runs the line again", "launches" in said.inner_text(), said.inner_text())


def contrast(page):
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    dark = page.evaluate("getComputedStyle(document.body).getPropertyValue('--apl-fun').trim()")
    check("a dark page has colours of its own", dark == "#cf9bff", dark)


def main(browser):
    port = free_port()
    book(HOME / "book.ipynb")
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0",
               "--IdentityProvider.token=t", "--LabApp.news_url=None", f"--ServerApp.root_dir={HOME}",
               "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=HOME)
    at = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{at}/api?token=t", timeout=1)
                break
            except OSError:
                time.sleep(0.1)
        with sync_playwright() as p:
            chromium = p.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
            page = chromium.new_page(viewport={"width": 1400, "height": 1600})
            wrong = []
            page.on("console", lambda m: wrong.append(m.text) if m.type == "error" and "aplomb" in m.text else None)
            page.on("pageerror", lambda e: wrong.append(str(e)))
            page.goto(f"{at}/lab/tree/book.ipynb?token=t&reset")
            page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for(timeout=90_000)
            time.sleep(1.5)  # the first click is lost
            for part in [keys, popup, values, views, contrast]:
                try:
                    part(page)
                except Exception as e:
                    check(part.__name__, False, str(e).splitlines()[:3])
            check("nothing went wrong on the page", not wrong, wrong)
            if shot := os.environ.get("SCREENSHOT"):
                page.screenshot(path=shot)
            chromium.close()
    finally:
        try:
            urllib.request.urlopen(urllib.request.Request(f"{at}/api/shutdown?token=t", method="POST"), timeout=5)
            server.wait(20)
        except Exception:
            server.kill()


main(sys.argv[1])
sys.exit(len(failed))
