"""What a lab shows: values, tables, pictures, errors, live views, in both themes."""
import json
import subprocess
import time

import seen
from page import LAB, TRACE, check, code_cell, command, output, run, write_book

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
    "2 2 2⍴8 7 2 1 6 5 4 3",
    "⎕CSV('<script>hurt=1</script>,age',(⎕UCS 10),'Bob,3',(⎕UCS 10),'Ann,40')'S'⍬ 1",
    "]plot (1○0.1×⍳60)(2○0.1×⍳60)",
    "]img 1|(∘.+⍨⍳64)÷32",
    "f←{÷⍵}\ng←{1+f ⍵}\ng 0",
    "hurt←0.5×⍳100000\n+/hurt×hurt\n]dag",
    "]why +/2×⍳2000",
]


def at(code):
    return CELLS.index(code) + 1


GRAPH = len(CELLS) - 1


def book(path):
    cells = [code_cell(k, source) for k, source in enumerate([""] + CELLS)]
    write_book(path, cells + [{"cell_type": "markdown", "id": "words", "metadata": {}, "source": "words"}])


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
    k = at("2 2 2⍴8 7 2 1 6 5 4 3")
    output(page, k, ".aplomb td").first.click(modifiers=["Alt"])
    check("planes are sorted each by itself", read(k) == ["2", "1", "8", "7", "4", "3", "6", "5"], read(k))


def pictures(page):
    k = next(k for k, c in enumerate(CELLS, 1) if c.startswith("]plot"))
    plot = output(page, k, "img, svg").first.evaluate(seen.PICTURE)
    check("a plot is drawn", plot["w"] >= 300 and plot["h"] >= 200 and plot["colours"] > 20 and 0.005 < plot["drawn"] < 0.5, plot)
    check("and stands on the page's own ground, dark or light", plot["clear"] > 0.5, plot)
    image = output(page, k + 1, "img").first.evaluate(seen.PICTURE)
    check("an image has its pixels", (image["w"], image["h"]) == (64, 64) and image["colours"] >= 32, image)
    wide = output(page, k + 1, "img").first.bounding_box()["width"]
    check("and can be seen", wide >= 64, wide)


def errors(page):
    k = next(k for k, c in enumerate(CELLS, 1) if c.startswith("f←{÷⍵}"))
    said = output(page, k, "pre").last.inner_text()
    for part in ["DOMAIN ERROR", "f←{÷⍵}", "called from", "g 0"]:
        check(f"an error says {part}", part in said, said)
    colours = output(page, k, "pre").last.locator("[class*=ansi]").count()
    check("an error has colours", colours > 3, colours)
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
    # Another cell ran since: the view asks about its own.
    check("a switch runs its own cell again, and says what it changes", f"off: {name}" in told and "launches" in told, told)
    view.locator(".cuda").click()
    launches = view.locator("details.launch")
    launches.first.wait_for(timeout=10_000)
    text = launches.first.locator("pre").text_content()
    check("the CUDA of a launch can be unfolded", "__global__" in text, text[:80])
    why = output(page, k + 1, "").locator("xpath=self::*[contains(@class, 'aplomb-view')]").first
    said = why.locator(".says").inner_text()
    check("what ]why says stands above its graph", said.startswith("1 launch for 3 nodes"), said)
    check("with all reasons", why.locator(".side p").count() > 1, why.locator(".side p").count())


def contrast(page):
    parts = {
        "cells": ".jp-Notebook:visible .cm-content",
        "tables": ".jp-OutputArea-output .aplomb",
        "errors": ".jp-OutputArea-output[data-mime-type*=stderr]",
        "live views": ".aplomb-view",
        "the bar": ".aplomb-bar",
    }
    in_each_theme(page, parts)


# What ]why leaves in a file: its text, and the trace that it speaks of.
def told(path):
    codes = [f"\x1b[{k}m{k} colour\x1b[0m" for k in [*range(30, 38), *range(90, 98)]]
    error = {"output_type": "error", "ename": "DOMAIN ERROR", "evalue": "", "traceback": ["DOMAIN ERROR: no", *codes]}
    spec = json.loads((LAB.parents[1] / "kernels/aplomb/kernel.json").read_text())
    made = subprocess.run([spec["argv"][0], "trace", "--json", "-e", "(+/z)÷⌈/z←*-x×x←0.5×⍳100000"],
                          capture_output=True, check=True)
    view = {"kind": "why", "says": "1 launch for 9 nodes\n  shared: 2 terms", "node": None}
    data = {TRACE: json.loads(made.stdout) | {"view": view}, "text/plain": view["says"]}
    shown = {"output_type": "display_data", "data": data, "metadata": {}}
    printed = {"output_type": "stream", "name": "stdout", "text": "\n".join(codes)}
    write_book(path, [code_cell(0, "]why", [shown]), code_cell(1, "÷0", [printed, error])])


def in_each_theme(page, parts):
    """Whether what is written in these parts can be read, in the lab's own themes."""
    for theme in ["JupyterLab Light", "JupyterLab Dark"]:
        command(page, "apputils:change-theme", theme=theme)
        page.wait_for_function("name => document.body.dataset.jpThemeName === name", arg=theme)
        time.sleep(0.5)  # the theme's style sheet
        for what, where in parts.items():
            page.locator(where).last.scroll_into_view_if_needed()
            number, least, text = page.locator(where).evaluate_all(seen.CONTRAST)
            check(f"{what} can be read in {theme}", number > 0 and least >= 4.5, (number, least, text),
                  f"({number} texts, contrast at least {least:.1f})")


def reasons(page):
    command(page, "docmanager:open", path="told.ipynb", factory="Notebook")
    page.locator(".jp-Notebook:visible .ansi-cyan-fg").first.wait_for(timeout=30_000)
    in_each_theme(page, {
        "colours of an error": ".jp-Notebook:visible .jp-OutputArea-output[data-mime-type*='jupyter.stderr']",
        "colours that are printed": ".jp-Notebook:visible .jp-OutputArea-output[data-mime-type*='jupyter.stdout']",
    })
    view = page.locator(".jp-Notebook:visible .aplomb-view")
    view.wait_for(timeout=30_000)
    check("what ]why said stands above the graph", view.locator(".says").inner_text().startswith("1 launch for 9 nodes"))
    all_reasons = view.locator(".side p").count()
    check("all reasons stand beside it", all_reasons > 3, all_reasons)
    first = view.locator(".side p").first
    name = first.inner_text().split()[0]
    first.click()
    picked = view.locator(".node.on").text_content()
    check("a click on one picks its node", name in picked, (name, picked))
    check("whose own stay", 0 < view.locator(".side p").count() < all_reasons, view.locator(".side p").count())
    view.locator(".node.on").click()
    check("and all are back", view.locator(".side p").count() == all_reasons)
    view.locator(".cuda").click()
    check("a file may have its launches", "__global__" in view.locator("details.launch pre").first.text_content())
    marks = view.locator("details.launch mark").count()
    view.locator(".node").last.click()
    check("a node marks its lines of CUDA", marks == 0 and view.locator("details.launch mark").count() > 0, marks)
