"""Runs the tests beside this one that are written in JavaScript, under the Node that playwright brings."""
import pathlib
import subprocess
import sys

from playwright._impl._driver import compute_driver_executable

node = compute_driver_executable()[0]
scripts = sorted(pathlib.Path(__file__).parent.glob("*.js"))
sys.exit(sum(subprocess.run([node, script]).returncode for script in scripts) > 0)
