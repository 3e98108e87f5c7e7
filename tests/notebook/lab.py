"""JupyterLab in a browser: what a person sees and types. One line a check; the exit code is the number that failed.

The argument is the browser's program. The kernel is the one that JUPYTER_PATH finds. With a second argument the picture
of the README is written there.
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

import seen
from playwright.sync_api import sync_playwright

HOME = pathlib.Path(os.environ["HOME"])
LAB = pathlib.Path(os.environ["JUPYTER_PATH"]) / "labextensions/aplomb"
TRACE = "application/vnd.aplomb.trace.v1+json"
failed = []


def check(says, holds, found="", tells=""):
    print("ok  " if holds else "FAIL", says, tells if holds else f": {found!r}")
    if not holds:
        failed.append(says)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


# Values whose structure the page and ]display tell alike.
VALUES = [
    "(1 2)(3(4 5))",
    "'a  b' 'c'(2 2⍴⍳4)(⍳0)",
    "1 'a' '1' (⊂'abc')",
    "2 2⍴'ab' 1 (2 3)(,'x')",
    "(2 3⍴'abcdef')(3 2⍴1.5 ¯20)",
    "2 2⍴1.5 10 0.25 3",
    "'<img src=x onerror=hurt=1>' '<b>bold</b>&amp;'",
]
CELLS = VALUES + ["]display " + v for v in VALUES] + [
    "1 2",
    "3 2⍴3 30 1 10 2 20",
    "⎕←2 2⍴1.5 10 0.25 3",
    "2 2 2⍴4 3 2 1 8 7 6 5",
    "⎕CSV('<script>hurt=1</script>,age',(⎕UCS 10),'Bob,3',(⎕UCS 10),'Ann,40')'S'⍬ 1",
    "]plot (1○0.1×⍳60)(2○0.1×⍳60)",
    "]img 1|(∘.+⍨⍳64)÷32",
    "f←{÷⍵}\ng←{1+f ⍵}\ng 0",
    "hurt←0.5×⍳100000\n+/hurt×hurt\n]dag",
    "2+2",
]


def at(code):
    return CELLS.index(code) + 1


GRAPH = len(CELLS) - 1


def write_book(path, cells):
    spec = {"name": "aplomb", "display_name": "APL (Aplomb)", "language": "apl"}
    path.write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}))


def code_cell(k, source, outputs=()):
    return {"cell_type": "code", "id": f"c{k}", "metadata": {}, "execution_count": None, "outputs": list(outputs),
            "source": source}


def book(path):
    cells = [code_cell(k, source) for k, source in enumerate([""] + CELLS)]
    write_book(path, cells + [{"cell_type": "markdown", "id": "words", "metadata": {}, "source": "words"}])


def node(k, op, above, **more):
    return {"id": k, "op": op, "in": above, "dtype": "f64", "shape": [3], "span": [[0, 0, 1]], **more}


def trace(nodes, statement, **more):
    last = {"id": 0, "name": "record", "launches": [[nodes[-1]["id"]]], "breaks": [], "bytes": 8, "changed": True}
    return {"statement": statement, "sources": [{"id": 0, "name": "cell 1", "text": statement}], "nodes": nodes,
            "config": {"preset": "all", "off": []}, "passes": [last], "decisions": [], "kernels": [],
            "segments": [{"nodes": [0, len(nodes)], "passes": [0, 1], "decisions": [0, 0], "kernels": [0, 0]}], **more}


# What somebody may put into a file. All of it would set `hurt` on the page.
BAD = "<img src=x onerror=\"window.hurt=1\"><script>window.hurt=1</script>"
HOSTILE = [
    {"text/html": BAD, "text/plain": "html"},
    {"application/javascript": "window.hurt=1", "text/plain": "javascript"},
    {"image/svg+xml": "<svg xmlns='http://www.w3.org/2000/svg' onload='window.hurt=1'><script>window.hurt=1</script></svg>",
     "text/plain": "svg"},
    {TRACE: trace([node(0, BAD, []), node(1, "+/", [0], name=BAD)], BAD), "text/plain": "markup"},
    {TRACE: trace([node(0, "+", [1]), node(1, "+", [0])], "a cycle"), "text/plain": "cycle"},
    {TRACE: trace([node(k, "+", []) for k in range(1000)], "many"), "text/plain": "many"},
    {TRACE: {"__proto__": {"x": 1}, "nodes": 7}, "text/plain": "broken"},
    {TRACE: trace([node(0, "+", [])], "says", view={"kind": "why", "says": BAD, "node": "constructor"}),
     "text/plain": "says"},
]


def hostile(path):
    shown = lambda data: {"output_type": "display_data", "data": data, "metadata": {}}
    write_book(path, [code_cell(k, "⍬", [shown(data)]) for k, data in enumerate(HOSTILE)])


def command(page, name, **args):
    page.evaluate("([name, args]) => jupyterapp.commands.execute(name, args).then(() => null)", [name, args])


def cell(page, k):
    return page.locator(".jp-Notebook:visible .jp-CodeCell").nth(k)


def run(page, k):
    cell(page, k).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    prompt = cell(page, k).locator(".jp-InputArea-prompt")
    for _ in range(150):
        if re.fullmatch(r"\[\d+\]:", prompt.inner_text().strip()):
            return
        time.sleep(0.1)


def output(page, k, what):
    found = cell(page, k).locator(f".jp-OutputArea-output {what}")
    found.first.scroll_into_view_if_needed(timeout=10_000)
    return found


def line(page):
    return cell(page, 0).locator(".cm-line").first.text_content()


def type_anew(page, text):
    cell(page, 0).locator(".cm-content").click()
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
    words = page.locator(".jp-MarkdownCell").last
    words.scroll_into_view_if_needed()
    words.click()
    page.keyboard.press("Enter")
    words.locator(".cm-line").first.wait_for(timeout=5000)
    page.keyboard.press("Control+a")
    page.keyboard.type("`w")
    got = words.locator(".cm-line").first.text_content()
    check("a cell of words keeps its backticks", got == "`w", got)
    type_anew(page, "")


def bar(page):
    glyphs = json.loads((LAB / "static/table.json").read_text())["glyphs"]
    type_anew(page, "")
    buttons = page.locator(".aplomb-bar button:not(.hide)")
    check("the bar has every glyph", buttons.all_text_contents() == [g["glyph"] for g in glyphs])
    buttons.filter(has_text="⍳").first.hover()
    tip = page.locator(".aplomb-tip").inner_text()
    check("over a glyph stand its names", "iota" in tip, tip)
    buttons.filter(has_text="⍳").first.click()
    page.keyboard.type("5")
    check("a click puts the glyph and the cell keeps the focus", line(page) == "⍳5", line(page))
    page.locator(".aplomb-bar .hide").click()
    check("the bar can be hidden", not page.locator(".aplomb-bar").is_visible())
    command(page, "aplomb:bar")
    page.locator(".aplomb-bar").wait_for(timeout=5000)
    row, first, hide = (page.locator(f".aplomb-bar {e}").first.bounding_box() for e in [".strip", "button", ".hide"])
    check("and shown again, whole", row["y"] <= first["y"] and hide["x"] > row["x"] + row["width"] - 1, (row, first, hide))


def editor(page):
    type_anew(page, "f`[{`w+1} `, note")
    looks = cell(page, 0).locator(".cm-line span").evaluate_all("all => all.map(e => e.className)")
    wanted = {"apl-def", "apl-arrow", "apl-arg", "apl-fun", "apl-num", "apl-com", "apl-b0"}
    check("the mode knows functions, arguments, comments", wanted <= {c for l in looks for c in l.split()}, looks)
    all_glyphs = "".join(g["glyph"] for g in json.loads((LAB / "static/table.json").read_text())["glyphs"])
    loaded = page.evaluate("document.fonts.load(\"16px 'Aplomb Mono'\", '⍳').then(f => f.length)")
    check("the font is there", loaded == 1, loaded)
    widths = page.evaluate(seen.WIDTHS, ["'Aplomb Mono'", all_glyphs + "Mi┌┐└┘│─"])
    check("all glyphs have one width", len(widths) == 1, widths)
    font = cell(page, 0).locator(".cm-content").evaluate("e => getComputedStyle(e).fontFamily")
    check("cells have the font", "Aplomb Mono" in font, font)


def popup(page):
    for typed in ["re", "⎕N", "]p", "`r"]:
        type_anew(page, "")
        page.keyboard.insert_text(typed)  # at once: the keys of glyphs are none of this
        if typed == "`r":
            type_anew(page, "`r")
            page.keyboard.press("Control+z")  # the typed characters, so that the completer sees them
        page.keyboard.press("Tab")
        rows = page.locator(".jp-Completer-item")
        try:
            rows.first.wait_for(timeout=5000)
        except Exception:
            # One answer is put at once.
            check(f"{typed} is completed", line(page) != typed, line(page))
            continue
        boxes = rows.evaluate_all("all => all.slice(0, 12).map(e => e.getBoundingClientRect().toJSON())")
        high = rows.evaluate_all("all => all.slice(0, 12).every(e => e.scrollHeight <= e.clientHeight + 1)")
        apart = not seen.overlaps(boxes) and all(b["height"] < 40 for b in boxes)
        check(f"rows of the popup behind {typed} do not overlap, nor wrap", apart and high, boxes)
        page.keyboard.press("Escape")
    type_anew(page, "")


def values(page):
    for k in range(1, len(CELLS) + 1):
        run(page, k)
    for code in VALUES:
        there = output(page, at(code), ".aplomb > table").first.evaluate(seen.READ)
        framed = seen.framed(output(page, at("]display " + code), "pre").first.inner_text())
        check(f"{code} has one structure on the page and in ]display", there == framed, (there, framed))
    said = output(page, at("1 2"), "pre").first.inner_text().strip()
    check("a row of numbers is its text", said == "1 2", said)
    printed = output(page, at("⎕←2 2⍴1.5 10 0.25 3"), ".aplomb > table").first.evaluate(seen.READ)
    check("⎕← shows what a value shows", printed == ["1.5", "10", "0.25", "3"], printed)
    frames = output(page, at("(1 2)(3(4 5))"), ".aplomb table table").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).borderLeftWidth))")
    check("what is nested has frames", len(frames) == 3 and min(frames) >= 0.5, frames)
    check("markup in texts is text", page.evaluate("typeof window.hurt") == "undefined"
          and output(page, at(VALUES[-1]), ".aplomb code").first.inner_text() == "<img src=x onerror=hurt=1>")
    font = output(page, at("3 2⍴3 30 1 10 2 20"), ".aplomb table").evaluate("e => getComputedStyle(e).fontFamily")
    check("tables have the font", "Aplomb Mono" in font, font)


def sorting(page):
    k = at("3 2⍴3 30 1 10 2 20")
    read = lambda k: output(page, k, ".aplomb > table").first.evaluate(seen.READ)
    first = output(page, k, ".aplomb td").first
    orders = []
    for _ in range(3):
        output(page, k, ".aplomb td").first.click(modifiers=["Alt"])
        orders.append(read(k)[::2])
    check("a click sorts, turns round, and puts back", orders == [["1", "2", "3"], ["3", "2", "1"], ["3", "1", "2"]], orders)
    check("a row stays together", read(k) == ["3", "30", "1", "10", "2", "20"], read(k))
    tip = first.get_attribute("title")
    check("over an item stand its index and how to sort", tip.startswith("[1;1] ") and "Alt" in tip, tip)
    k = next(k for k, c in enumerate(CELLS, 1) if c.startswith("⎕CSV"))
    heads = output(page, k, ".aplomb th")
    check("markup in headings is text", heads.first.inner_text() == "<script>hurt=1</script>", heads.first.inner_text())
    heads.first.click()
    check("a click on a heading sorts", read(k)[2:] == [["Ann"], ["40"], ["Bob"], ["3"]], read(k))
    check("and shows it", heads.first.get_attribute("aria-sort") == "ascending", heads.first.get_attribute("aria-sort"))
    k = at("2 2 2⍴4 3 2 1 8 7 6 5")
    output(page, k, ".aplomb td").first.click(modifiers=["Alt"])
    check("planes are sorted each by itself", read(k) == ["2", "1", "4", "3", "6", "5", "8", "7"], read(k))


def pictures(page):
    k = next(k for k, c in enumerate(CELLS, 1) if c.startswith("]plot"))
    plot = output(page, k, "img, svg").first.evaluate(seen.PICTURE)
    check("a plot is drawn", plot["w"] >= 300 and plot["h"] >= 200 and plot["colours"] > 20 and 0.005 < plot["drawn"] < 0.5, plot)
    image = output(page, k + 1, "img").first.evaluate(seen.PICTURE)
    check("an image has its pixels", (image["w"], image["h"]) == (64, 64) and image["colours"] >= 32, image)
    wide = output(page, k + 1, "img").first.bounding_box()["width"]
    check("and can be seen", wide >= 64, wide)


def errors(page):
    k = next(k for k, c in enumerate(CELLS, 1) if c.startswith("f←{÷⍵}"))
    said = output(page, k, "pre").last.inner_text()
    for part in ["DOMAIN ERROR", "f←{÷⍵}", "called from", "g 0"]:
        check(f"an error says {part}", part in said, said)
    font = output(page, k, "pre").last.evaluate("e => getComputedStyle(e).fontFamily")
    check("its marks stand below their places", "Aplomb Mono" in font, font)


def views(page):
    k = GRAPH
    view = output(page, k, "").locator("xpath=self::*[contains(@class, 'aplomb-view')]").first
    view.wait_for(timeout=10_000)
    nodes = view.locator(".node")
    check("a graph has its nodes", nodes.count() > 1, nodes.count())
    apart = not seen.overlaps(nodes.evaluate_all("all => all.map(e => e.getBoundingClientRect().toJSON())"))
    check("nodes of a chain stand below each other", apart)
    source = view.locator(".source").first.inner_text()
    check("the source is the cell of the line", "hurt×hurt" in source, source)
    nodes.last.click()
    check("a click marks a node and its source", view.locator(".node.on").count() == 1 and view.locator("mark").count() > 0)
    check("and tells its reasons", view.locator(".side p").count() > 0)
    says = lambda: view.locator(".pass").inner_text()
    end = says()
    check("one launch is one", "1 launch," in end, end)
    view.locator("input[type=range]").focus()
    page.keyboard.press("Home")
    check("the slider goes to the first pass", says().startswith("record") and "3 launches" in says(), says())
    page.keyboard.press("End")
    check("and back to the last", says() == end, says())
    said = view.locator(".aplomb-said")

    def switch(name):
        view.locator(".chips .chip", has_text=name).first.click()
        for _ in range(100):
            if said.inner_text() not in ("", "…"):
                break
            time.sleep(0.1)
        return said.inner_text()

    name = view.locator(".chips .chip").first.inner_text()
    told = switch(name)
    check("a switch runs the line again, or says which one ran", "launches" in told or "the last line" in told, told)
    run(page, k)
    view = output(page, k, "").locator("xpath=self::*[contains(@class, 'aplomb-view')]").first
    said = view.locator(".aplomb-said")
    name = view.locator(".chips .chip").first.inner_text()
    told = switch(name)
    check("a switch says what it changes", f"off: {name}" in told and "launch" in told, told)
    view.locator(".cuda").click()
    launches = view.locator("details.launch")
    launches.first.wait_for(timeout=10_000)
    text = launches.first.locator("pre").text_content()
    check("the CUDA of a launch can be unfolded", "__global__" in text, text[:80])


def contrast(page):
    parts = {
        "cells": ".jp-Notebook:visible .cm-content",
        "tables": ".jp-OutputArea-output .aplomb",
        "errors": ".jp-OutputArea-output[data-mime-type*=stderr]",
        "live views": ".aplomb-view",
        "the bar": ".aplomb-bar",
    }
    for theme in ["JupyterLab Light", "JupyterLab Dark"]:
        command(page, "apputils:change-theme", theme=theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        time.sleep(0.5)  # the theme's style sheet
        for what, where in parts.items():
            page.locator(where).last.scroll_into_view_if_needed()
            number, least, text = page.locator(where).evaluate_all(seen.CONTRAST)
            check(f"{what} can be read in {theme}", number > 0 and least >= 4.5, (number, least, text),
                  f"({number} texts, contrast at least {least:.1f})")


def untrusted(page):
    command(page, "docmanager:open", path="hostile.ipynb", factory="Notebook")
    page.locator(".jp-Notebook:visible .jp-CodeCell").nth(len(HOSTILE) - 1).wait_for(timeout=30_000)
    shown = lambda k: cell(page, k).locator(".jp-OutputArea-output").first
    shown(3).wait_for(timeout=10_000)
    time.sleep(1)  # what would run has run
    check("nothing of an untrusted book runs", page.evaluate("typeof window.hurt") == "undefined")
    tags = page.locator(".jp-Notebook:visible .aplomb-view").evaluate_all(
        "all => all.reduce((n, e) => n + e.querySelectorAll('img, script').length, 0)")
    check("a live view writes text only", tags == 0, tags)
    for k, wanted in [(3, "<img src=x"), (4, "n0"), (5, "too many"), (6, "cannot be drawn"), (7, "onerror")]:
        said = shown(k).text_content()
        check(f"a bad trace ({HOSTILE[k]['text/plain']}) is drawn or refused", wanted in said, said[:200])


PARTS = [keys, bar, editor, popup, values, sorting, pictures, errors, views, contrast, untrusted]


# The picture of the README: a notebook as somebody has it before him.
SHOWN = [
    "'Ann' 'Bob',⍪(3 1 4)(2 2⍴1.5 10 0.25 3)",
    "(⎕PLOT⍠'Size'(620 200))(1○0.1×⍳60)(2○0.1×⍳60)",
    "x←0.5×⍳100000\nz←*-x×x\n(+/z)÷⌈/z\n]dag",
]


def picture(page, path):
    write_book(HOME / "shown.ipynb", [code_cell(k, source) for k, source in enumerate(SHOWN)])
    page.set_viewport_size({"width": 940, "height": 1180})
    command(page, "application:toggle-left-area")
    command(page, "apputils:change-theme", theme="JupyterLab Light")
    command(page, "docmanager:open", path="shown.ipynb", factory="Notebook")
    page.locator(".jp-Notebook:visible .jp-CodeCell").nth(len(SHOWN) - 1).wait_for(timeout=30_000)
    page.locator(".jp-NotebookPanel:visible .jp-Notebook-ExecutionIndicator[data-status=idle]").wait_for(timeout=30_000)
    time.sleep(1.5)
    for k in range(len(SHOWN)):
        run(page, k)
    page.locator(".jp-Notebook:visible .aplomb-view .node").last.click()
    panel = page.locator(".jp-NotebookPanel:visible")
    page.locator(".jp-Notebook:visible .jp-CodeCell").first.scroll_into_view_if_needed()
    time.sleep(0.5)
    path.write_bytes(seen.palette(panel.screenshot()))
    print("wrote", path, path.stat().st_size, "bytes")


def start(port):
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ServerApp.port_retries=0",
               "--IdentityProvider.token=t", "--LabApp.news_url=None", f"--ServerApp.root_dir={HOME}",
               "--LabApp.expose_app_in_browser=True", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    # A question about news would stand before the page.
    notes = HOME / "settings/@jupyterlab/apputils-extension/notification.jupyterlab-settings"
    notes.parent.mkdir(parents=True, exist_ok=True)
    notes.write_text('{"fetchNews": "false"}')
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=HOME,
                              env={**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(HOME / "settings")})
    for _ in range(600):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/api?token=t", timeout=1)
            break
        except OSError:
            time.sleep(0.1)
    return server


def main(browser, path=None):
    port = free_port()
    book(HOME / "book.ipynb")
    hostile(HOME / "hostile.ipynb")
    server = start(port)
    where = f"http://127.0.0.1:{port}"
    try:
        with sync_playwright() as p:
            chromium = p.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
            page = chromium.new_page(viewport={"width": 1400, "height": 1600})
            wrong = []
            page.on("console", lambda m: wrong.append(m.text) if m.type == "error" and "aplomb" in m.text else None)
            page.on("pageerror", lambda e: wrong.append(str(e)))
            page.goto(f"{where}/lab/tree/book.ipynb?token=t&reset")
            page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for(timeout=90_000)
            time.sleep(1.5)  # the first click is lost
            for part in PARTS:
                try:
                    part(page)
                except Exception as e:
                    check(part.__name__, False, str(e).splitlines()[:4])
                if folder := os.environ.get("SCREENSHOTS"):
                    page.screenshot(path=f"{folder}/{part.__name__}.png")
            check("nothing went wrong on the page", not wrong, wrong)
            if path:
                picture(page, pathlib.Path(path))
            chromium.close()
    finally:
        try:
            urllib.request.urlopen(urllib.request.Request(f"{where}/api/shutdown?token=t", method="POST"), timeout=5)
            server.wait(20)
        except Exception:
            server.kill()


main(*sys.argv[1:])
sys.exit(len(failed))
