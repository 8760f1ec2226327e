"""Many inputs by one contract, each answer checked and on disk before it counts.

The peers are a loop of AsyncOpenAI with pydantic, and one of Instructor; both write each answer to SQLite
and commit it. Every measurement has a server and a database of its own.
"""

import json
import os
import pathlib
import tempfile

from fake import Fake
from overhead import schema
from programs import run, run_with_peak
from setting import PYTHON_OF_CLIENTS, QUICK, ROOT, TARGET
from tables import human, memory_name, table

INPUTS, PEER_INPUTS, IN_FLIGHT = (20_000, 2_000, 64) if QUICK else (100_000, 5_000, 64)
SMALL = INPUTS // 10
AIM = 2_000
TIMEOUT_S = 1800
LOOP = ROOT / "bench/measure_batch.py"
PEERS = ["openai", "instructor"]


def write_inputs(folder, count):
    """Lines that all differ, as real ones do."""
    path = folder / f"in-{count}.jsonl"
    with path.open("w") as file:
        for number in range(count):
            file.write(json.dumps({"id": number, "text": f"Report {number}: the parser hangs."}) + "\n")
    return path


def airtight(folder, count, fake):
    """Our batch: a line for each input, and a run in the ledger."""
    out = folder / "out.jsonl"
    flags = ["--model", "openai-chat:fake", "--prompt", "Sort this report: {{text}}", "--concurrency", IN_FLIGHT]
    place = ["--database", folder / "ledger.db", "-o", out, "--quiet"]
    command = [TARGET / "airtight", "batch", f"@{folder / 'triage.json'}", write_inputs(folder, count), *flags, *place]
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder), "OPENAI_BASE_URL": fake.openai, "OPENAI_API_KEY": "x"}
    done, peak = run_with_peak(command, variables, folder, TIMEOUT_S)
    with out.open() as lines:
        right = sum(1 for _ in lines)
    return done, peak, right


def peer(name, folder, count, fake):
    """A loop over the same inputs."""
    command = [PYTHON_OF_CLIENTS, LOOP, name, fake.openai, write_inputs(folder, count), IN_FLIGHT, folder / f"{name}.db"]
    variables = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    done, peak = run_with_peak(command, variables, folder, TIMEOUT_S)
    return done, peak, json.loads(done.stdout)["right"]


def measure(work, count, *arguments):
    with tempfile.TemporaryDirectory() as name, Fake(log=False) as fake:
        folder = pathlib.Path(name)
        (folder / "triage.json").write_text(json.dumps(schema()))
        done, peak, right = work(*arguments, folder, count, fake)
        if right != count:
            raise SystemExit(f"{arguments or 'airtight'}: {right} of {count} answers")
        return {"wall": done.wall, "cpu": done.cpu, "peak": peak, "count": count}


def row(name, figures, ours):
    rate = figures["count"] / figures["wall"] * 1e9
    times = "" if figures is ours else f" ({ours['count'] / ours['wall'] * 1e9 / rate:,.1f}× the time)"
    return [name, f"{figures['count']:,}", f"{rate:,.0f}{times}", human(figures["cpu"] / figures["count"]), memory_name(figures["peak"])]


def print_batch():
    small = measure(airtight, SMALL)
    ours = measure(airtight, INPUTS)
    rows = [row("airtight batch", ours, ours), row("airtight batch, a tenth of the inputs", small, ours)]
    rows += [row(f"{name}, SQLite", measure(peer, PEER_INPUTS, name), ours) for name in PEERS]
    header = ["program", "inputs", "runs per second", "processor time per run", "peak memory"]
    table(f"Many inputs, {IN_FLIGHT} in flight, each answer checked and on disk", header, rows)
    rate = ours["count"] / ours["wall"] * 1e9
    print(f"\nAim: {AIM:,} runs a second. {'Met' if rate >= AIM else 'Missed'}.")
    growth = ours["peak"] / small["peak"]
    print(f"Memory with ten times the inputs: {growth:.2f}×.")
    print("\n### The ledger alone\n\n```text")
    with tempfile.TemporaryDirectory() as folder:
        size = 100_000 if QUICK else 1_000_000
        print(run([TARGET / "examples/measure_ledger", folder, size], timeout_s=TIMEOUT_S).stdout.rstrip())
    print("```")
