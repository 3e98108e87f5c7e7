"""What somebody may put into a file that a lab opens: nothing of it runs."""
import time

from page import TRACE, cell, check, code_cell, command, write_book


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
