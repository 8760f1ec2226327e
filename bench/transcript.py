"""Streams of agents: `airtight transcript` beside the loops that people write, on the same file.

All take turns; each run is a whole program, from its start to its record. What they find is compared.
"""

import json
import os

from programs import best_and_median, run_with_peak
from setting import CACHE, MB, PYTHON, QUICK, ROOT, TARGET
from stream import stream_of
from tables import memory_name, table

ROUNDS = 2 if QUICK else 5
SIZES_MB = [10] if QUICK else [10, 100]
AIM = 5
PEERS = {
    "airtight, --summary": [TARGET / "airtight", "transcript", "--summary"],
    "airtight, all events": [TARGET / "airtight", "transcript"],
    "Python, json.loads": [PYTHON, ROOT / "bench/measure_stream.py"],
    "Node, readline and JSON.parse": ["node", "--max-old-space-size=8000", ROOT / "bench/measure_stream.mjs"],
}


def found(stdout):
    """What a reader made of the stream, in words that all have."""
    record = json.loads(stdout[stdout.rstrip().rfind("\n") + 1 :])
    if record.get("type") != "record":
        return record["lines"], record["output"], record["payload"]
    return record["lines"]["raw_messages"], len(record["output"]), record["payload"]["value"]


def print_transcript():
    rows = []
    for megabytes in SIZES_MB:
        path = stream_of(CACHE, megabytes)
        size = path.stat().st_size / MB
        runs = {peer: [] for peer in PEERS}
        answers = {}
        for _ in range(ROUNDS):
            for peer, command in PEERS.items():
                done, peak = run_with_peak([*command, path])
                runs[peer].append((done.wall, peak))
                answers[peer] = found(done.stdout)
        if len(set(map(json.dumps, answers.values()))) > 1:
            raise SystemExit(f"the readers disagree: {answers}")
        ours = best_and_median([wall for wall, _ in runs["airtight, --summary"]])[0]
        for peer, measured in runs.items():
            best, median = best_and_median([wall for wall, _ in measured])
            speed, usual = (f"{size / (wall / 1e9):,.0f} MB/s" for wall in (best, median))
            times = f"{best / ours:.1f}×"
            rows.append([f"{size:.0f} MB", peer, speed, usual, times, memory_name(max(peak for _, peak in measured))])
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    header = ["stream", "reader", "best", "median", "time, of ours", "peak memory"]
    table(f"Streams of agents: record of a claude-like stream (aim: {AIM}×, constant memory; load {load})", header, rows)
