"""Runs editors.js under the Node that playwright brings: the VS Code extension, without VS Code."""
import pathlib
import subprocess
import sys

from playwright._impl._driver import compute_driver_executable

node = compute_driver_executable()[0]
sys.exit(subprocess.run([node, pathlib.Path(__file__).with_suffix(".js")]).returncode)
