"""A notebook on the page of a lab: files that it opens, cells, what is typed into them, outputs."""
import json
import os
import pathlib
import re
import time

HOME = pathlib.Path(os.environ["HOME"])
LAB = pathlib.Path(os.environ["JUPYTER_PATH"]) / "labextensions/aplomb"
TRACE = "application/vnd.aplomb.trace.v1+json"
failed = []


def check(says, holds, found="", tells=""):
    print("ok  " if holds else "FAIL", says, tells if holds else f": {found!r}")
    if not holds:
        failed.append(says)


def write_book(path, cells):
    spec = {"name": "aplomb", "display_name": "APL (Aplomb)", "language": "apl"}
    path.write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}))


def code_cell(k, source, outputs=()):
    return {"cell_type": "code", "id": f"c{k}", "metadata": {}, "execution_count": None, "outputs": list(outputs),
            "source": source}


def glyphs():
    """The table that the extension was made with."""
    return json.loads((LAB / "static/table.json").read_text())["glyphs"]


def command(page, name, **args):
    page.evaluate("([name, args]) => jupyterapp.commands.execute(name, args).then(() => null)", [name, args])


def ready(page):
    """Waits until a book is open, its kernel idle, and its cells are known to be APL."""
    page.locator(".jp-Notebook-ExecutionIndicator[data-status=idle]").first.wait_for(timeout=90_000)
    page.locator(".jp-CodeCell .cm-content[data-language=aplomb]").first.wait_for(timeout=30_000)
    time.sleep(1.5)  # the first click is lost


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
