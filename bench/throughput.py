"""Runs per second with many in flight, in one process, on the same scripted server.

Every measurement has a server of its own, and a first run that is not timed. The server is one
thread; a bare HTTP client shows how much of the time is its.
"""

import json
import os
import pathlib
import sys
import tempfile

from fake import ANSWER, Fake
from overhead import schema
from programs import run_with_peak
from setting import CACHE, PYTHON_OF_CLIENTS, QUICK, ROOT, TARGET
from tables import human, memory_name, table

RUNS, IN_FLIGHT, ROUNDS = (200, 100, 1) if QUICK else (1000, 100, 3)
PEERS = {
    "airtight": ([TARGET / "examples/measure_runs"], []),
    "async-openai": ([CACHE / "target/release/async_openai"], []),
    "litellm": ([PYTHON_OF_CLIENTS, ROOT / "bench/measure_runs.py", "litellm"], []),
    "instructor": ([PYTHON_OF_CLIENTS, ROOT / "bench/measure_runs.py", "instructor"], []),
    "bare client": ([CACHE / "target/release/bare"], []),
    "bare client, streaming": ([CACHE / "target/release/bare"], ["stream"]),
}
CHECKS = {
    "airtight": "the contract, on a stream",
    "async-openai": "a Rust type",
    "litellm": "jsonschema",
    "instructor": "a pydantic model",
}


def measure(peer, folder):
    """All runs of a peer in one process: time, processor time, peak, right answers, requests."""
    command, more = PEERS[peer]
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with Fake() as fake:
        files = [folder / "triage.json", folder / "answer.json"]
        command = [*command, fake.openai, RUNS, IN_FLIGHT, *files, *more]
        done, peak = run_with_peak(command, variables, folder)
        outcome = json.loads(done.stdout)
        return {**outcome, "cpu": done.cpu, "peak": peak, "requests": len(fake.requests()) - 1}


def row(peer, figures, ours):
    rate = f"{RUNS / figures['ns'] * 1e9:,.0f}"
    times = "" if peer == "airtight" else f" ({figures['ns'] / ours['ns']:,.1f}× the time)"
    return [
        peer,
        rate + times,
        human(figures["cpu"] / RUNS),
        memory_name(figures["peak"]),
        f"{figures['right']} of {RUNS}" if peer in CHECKS else "–",
        str(figures["requests"]),
        CHECKS.get(peer, "nothing"),
    ]


def print_throughput():
    best = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "triage.json").write_text(json.dumps(schema()))
        (folder / "answer.json").write_text(json.dumps(ANSWER))
        for _ in range(ROUNDS):
            for peer in PEERS:
                figures = measure(peer, folder)
                before = best.get(peer, figures)
                # The best time, but every lost answer counts.
                right = min(before["right"], figures["right"])
                best[peer] = {**min(before, figures, key=lambda f: f["ns"]), "right": right}
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    rows = [row(peer, figures, best["airtight"]) for peer, figures in best.items()]
    header = ["client", "runs per second", "processor time per run", "peak memory", "right answers", "requests", "checks against"]
    table(f"{RUNS:,} runs in one process, {IN_FLIGHT} in flight", header, rows)
    if best["airtight"]["right"] != RUNS:
        raise SystemExit("airtight lost results")
