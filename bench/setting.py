"""What every part of bench/run shares: where things are, and what was asked for."""

import argparse
import os
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "airtight-bench"
KB, MB = 1000, 1000 * 1000
PARTS = ["texts", "transcript", "overhead", "harness", "throughput", "batch", "gateway", "viewers", "local"]


def options():
    parser = argparse.ArgumentParser(prog="bench/run", description="Measures Airtight and today's tools in one run.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, without the largest sizes")
    parser.add_argument("--built", action="store_true", help="measure what was built before")
    parser.add_argument("--dev", action="store_true", help="measure the dev build: to try the runner, not for figures")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part alone; may be repeated")
    return parser.parse_args()


OPTIONS = options()
QUICK = OPTIONS.quick
TARGET = ROOT / "target" / ("debug" if OPTIONS.dev else "release")
NODE_MODULES = CACHE / "node_modules"
# instructor holds jiter back, so the clients have an environment of their own.
PYTHON, PYTHON_OF_CLIENTS = CACHE / "venv/bin/python", CACHE / "venv-runs/bin/python"
