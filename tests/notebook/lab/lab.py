"""JupyterLab in a browser: what a person sees and types. One line a check; the exit code is the number that failed.

The argument is the browser's program. The kernel is the one that JUPYTER_PATH finds. With a second argument the picture
of the README is written there.
"""
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.request

import seen
from hostile_book import hostile, untrusted
from looked import book, contrast, errors, pictures, reasons, sorting, told, values, views
from page import HOME, check, code_cell, command, failed, ready, run, write_book
from playwright.sync_api import sync_playwright
from typed import bar, editor, keys, popup, prefix


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


PARTS = [prefix, keys, bar, editor, popup, values, sorting, pictures, errors, views, contrast, reasons, untrusted]

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
    told(HOME / "told.ipynb")
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
            ready(page)
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
