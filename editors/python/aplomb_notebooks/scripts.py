"""`.apl` as a script that is a notebook, for jupytext: cells begin at `⍝ %%`, words stand in comments.

jupytext makes its formats of one table of languages when it is imported, and no setting adds to that, so the table gets
our row first. `aplomb-jupytext` is jupytext's command with `.apl` added; `import aplomb_notebooks.scripts` as the first line
of `jupyter_server_config.py` adds it to a lab that pairs notebooks with scripts.
"""
import importlib.util
import pathlib
import sys

EXTENSION, LANGUAGE, COMMENT = ".apl", "apl", "⍝"
TABLES = "jupytext.languages"


def register():
    """Reads the table before jupytext does, and adds a row. A table that knows the extension is left as it is."""
    if TABLES in sys.modules:
        if EXTENSION not in sys.modules[TABLES]._SCRIPT_EXTENSIONS:
            raise ImportError("jupytext was imported before aplomb_notebooks.scripts, and has made its formats already")
        return
    package = importlib.util.find_spec("jupytext")
    if package is None:
        raise ImportError("jupytext is not installed")
    path = pathlib.Path(package.origin).with_name("languages.py")
    spec = importlib.util.spec_from_file_location(TABLES, path)
    table = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    if EXTENSION not in table._SCRIPT_EXTENSIONS:
        table._SCRIPT_EXTENSIONS[EXTENSION] = {"language": LANGUAGE, "comment": COMMENT}
        table._COMMENT[LANGUAGE] = COMMENT
        table._COMMENT_CHARS.append(COMMENT)
    sys.modules[TABLES] = table


register()


def main():
    from jupytext.cli import jupytext

    sys.exit(jupytext(sys.argv[1:]))
