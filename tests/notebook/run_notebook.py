"""Runs notebooks twice: equal outputs, and the text that the file holds. UPDATE=1 writes the outputs there."""
import copy
import os
import sys

import nbclient
import nbformat


def run(saved, folder):
    book = copy.deepcopy(saved)
    client = nbclient.NotebookClient(book, kernel_name="aplomb", timeout=120, store_widget_state=False,
                                     resources={"metadata": {"path": folder}})
    client.execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    # Written and read again, as a file is.
    return nbformat.reads(nbformat.writes(book), 4)


def text(cell):
    """What a reader of the file sees; a picture's bytes and its trace may change with the compiler."""
    outputs = cell.get("outputs", [])
    return [o.get("text") or o.get("traceback") or o.get("data", {}).get("text/plain") for o in outputs]


def differ(path):
    saved = nbformat.read(path, 4)
    folder = os.path.dirname(os.path.abspath(path))
    first, second = run(saved, folder), run(saved, folder)
    if os.environ.get("UPDATE"):
        first.metadata = saved.metadata
        nbformat.write(first, path)
        saved = nbformat.read(path, 4)
    bad = 0
    for k, (a, b, c) in enumerate(zip(first.cells, second.cells, saved.cells)):
        pairs = ((a.get("outputs"), b.get("outputs"), "the second run"), (text(a), text(c), "the file"))
        for here, there, what in pairs:
            if here != there:
                bad += 1
                print(f"{path}, cell {k + 1} differs from {what}: {a.source}\n{here}\n{there}"[:4000])
    print(f"{path}: {len(first.cells)} cells, {bad} differ")
    return bad


sys.exit(sum(map(differ, sys.argv[1:])) > 0)
