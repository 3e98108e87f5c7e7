"""Runs a notebook twice; both runs must give the outputs that the file holds. UPDATE=1 writes them there."""
import copy
import os
import sys

import nbclient
import nbformat

path = sys.argv[1]
saved = nbformat.read(path, 4)


def run():
    book = copy.deepcopy(saved)
    nbclient.NotebookClient(book, kernel_name="aplomb", timeout=120, store_widget_state=False).execute()
    for cell in book.cells:
        cell.metadata.pop("execution", None)
    # Written and read again, as a file is.
    return nbformat.reads(nbformat.writes(book), 4)


first, second = run(), run()
if os.environ.get("UPDATE"):
    first.metadata = saved.metadata
    nbformat.write(first, path)
    saved = nbformat.read(path, 4)
bad = 0
for k, (a, b, c) in enumerate(zip(first.cells, second.cells, saved.cells)):
    for other, what in ((b, "the second run"), (c, "the file")):
        if a.get("outputs") != other.get("outputs"):
            bad += 1
            print(f"cell {k + 1} differs from {what}: {a.source}\n{a.get('outputs')}\n{other.get('outputs')}"[:4000])
print(f"{len(first.cells)} cells, {bad} differ")
sys.exit(bad > 0)
