"""Many viewers of one live run, and some that never read: how long an event takes from its writing to each of them.

The writer has a handle of its own on the ledger, as a run of another process has it. There is no peer: nobody
else's dashboard streams a run from its ledger.
"""

import json
import subprocess

from setting import QUICK, TARGET
from tables import human, memory_name, table

EVENTS, STALLED = (50, 100) if QUICK else (200, 100)
VIEWERS = [1, 100, 1000]
AIM_MS = 50


def measure(viewers):
    command = [TARGET / "examples/measure_viewers", viewers, EVENTS, STALLED]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def print_viewers():
    rows = []
    for viewers in VIEWERS:
        seen = measure(viewers)
        told, due = seen["delivered"], viewers * EVENTS
        times = [human(seen[name] * 1000) for name in ("p50_us", "p99_us", "most_us")]
        memory = [memory_name(seen[name]) for name in ("before_kib", "after_kib")]
        rows.append([f"{viewers:,}", f"{told:,} of {due:,}", *times, *memory])
        if told != due:
            raise SystemExit(f"events were lost on the way to {viewers} viewers: {told} of {due} came")
    header = ["viewers", "events delivered", "p50", "p99", "most", "memory before", "memory after"]
    table(f"One live run, {EVENTS} events, {STALLED} more viewers that never read", header, rows)
    is_met = seen["p99_us"] < AIM_MS * 1000
    print(f"\nAim: under {AIM_MS} ms at the 99th percentile with {VIEWERS[-1]:,} viewers. {'Met' if is_met else 'Missed'}.")
