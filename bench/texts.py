"""Texts and contracts: Airtight's library beside validators, repair libraries and partial parsers.

Each measurement is its own process and the best of several; all peers take turns ROUNDS times, so
that a busy machine hits them alike. One that takes longer than TIMEOUT_S is given up.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import inputs
from programs import best_and_median, run, run_with_peak
from setting import CACHE, KB, MB, PYTHON, QUICK, ROOT, TARGET
from tables import against, growth, human, memory_name, size_name, table

SCHEMA = ROOT / "schemas" / "agent-response.json"
TIMEOUT_S = 20
ROUNDS = 3
# What takes longer than this is measured once: noise is small beside it.
ONCE_FROM_NS = 3e9
REFUSALS = set()

OURS = [TARGET / "examples/measure"]
NODE = ["node", "--stack-size=4000", CACHE / "measure.mjs"]
MEASURE_PY = [PYTHON, ROOT / "bench/measure.py"]
PEERS = {
    "airtight": OURS,
    "Ajv": NODE, "jsonrepair": NODE, "ai": NODE, "jsonriver": NODE,
    "python-jsonschema": MEASURE_PY, "json_repair": MEASURE_PY, "jiter": MEASURE_PY,
}


def measure(peer, task, text_path, *more):
    """Best time in nanoseconds, or a word for why there is none; a text refused by design is timed."""
    command = [str(part) for part in [*PEERS[peer], task, text_path, *more]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return f"> {TIMEOUT_S} s"
    try:
        outcome = json.loads(done.stdout)
    except json.JSONDecodeError:
        return "crashed"
    if "reason" in outcome:
        REFUSALS.add(outcome["reason"]["type"])
    return outcome.get("ns", "refused" if "refused" in outcome else "crashed")


def in_turns(peers, path, extra):
    """The best time of each peer, or a word for why there is none."""
    times = {peer: measure(peer, task, path, *extra) for peer, task in peers.items()}
    for _ in range(ROUNDS - 1):
        for peer, task in peers.items():
            if not isinstance(times[peer], str) and times[peer] < ONCE_FROM_NS:
                again = measure(peer, task, path, *extra)
                times[peer] = times[peer] if isinstance(again, str) else min(times[peer], again)
    return times


def compare(title, peers, cases, with_growth=False):
    """`cases`: (label, size, text, extra arguments); `peers`: peer → task."""
    names = list(peers)
    header = ["input", *names, *(["growth, airtight"] if with_growth else [])]
    rows, previous, before, last = [], None, None, None
    with tempfile.TemporaryDirectory() as folder:
        for label, size, text, extra in cases:
            path = pathlib.Path(folder) / "input"
            path.write_text(text, encoding="utf-8")
            times = in_turns(peers, path, extra)
            ours = times["airtight"]
            row = [f"{label} {size_name(size)}".strip(), human(ours)]
            row += [against(ours, times[peer]) for peer in names[1:]]
            if with_growth:
                same = label == last
                row.append(growth(ours, before if same else "", size, previous if same else None))
            rows.append(row)
            previous, before, last = size, ours, label
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    table(title, header, rows)


def print_start_up():
    """Wall time and peak memory of one whole `airtight validate`."""
    program = TARGET / "airtight"
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in [2 * KB, 200 * KB]:
            path = pathlib.Path(folder) / "answer.json"
            path.write_text(inputs.whole(size), encoding="utf-8")
            command = [program, "validate", f"@{SCHEMA}", path]
            rows.append([size_name(size), *walls(command), memory_name(run_with_peak(command)[1])])
    for name, command in {"node -e 0": ["node", "-e", "0"], "python -c pass": ["python3", "-c", "pass"]}.items():
        rows.append([name, *walls(command), memory_name(run_with_peak(command)[1])])
    size = program.stat().st_size / MB
    table(f"Start to verdict, `airtight validate` ({size:.1f} MB program)", ["answer", "wall, best", "wall, median", "peak memory"], rows)


def walls(command):
    """Wall times of a whole program, over 30 runs."""
    return map(human, best_and_median([run(command).wall for _ in range(30)]))


def print_texts():
    shutil.copy(ROOT / "bench/measure.mjs", CACHE)
    print(f"\nTimes of texts are the best of several in each of {ROUNDS} processes.")
    print_start_up()
    compare(
        "Bytes → verdict, agent-response",
        {"airtight": "verdict", "Ajv": "verdict", "python-jsonschema": "verdict"},
        [("", size, inputs.whole(size), [SCHEMA]) for size in [2 * KB, 200 * KB]],
    )
    contracts = sorted([*(ROOT / "schemas").glob("*.json"), *(ROOT / "contracts").glob("*.json")])
    for title, task in [("Compile", "compile"), ("Preflight (ours) against compile (theirs)", "preflight")]:
        compare(
            title,
            {"airtight": task, "Ajv": "compile", "python-jsonschema": "compile"},
            [(path.stem, path.stat().st_size, path.read_text(), [path]) for path in contracts],
        )
    sizes = [KB, 100 * KB] if QUICK else [KB, 100 * KB, 10 * MB]
    compare(
        "Recovery: broken text → verdict (ours), → value (theirs)",
        {"airtight": "recover", "jsonrepair": "jsonrepair", "json_repair": "json_repair"},
        [(name, size, make(size), [SCHEMA]) for name, make in inputs.BROKEN.items() for size in sizes],
        with_growth=True,
    )
    if REFUSALS:
        print(f"\nRefused by design, and timed: {', '.join(sorted(REFUSALS))} texts. The others are accepted.")
    sizes = [2 * KB, 32 * KB] if QUICK else [2 * KB, 32 * KB, 128 * KB]
    compare(
        "Following an answer in 4-character deltas: value and check (ours), value (theirs)",
        {"airtight": "follow", "ai": "ai", "jsonriver": "jsonriver", "jiter": "jiter"},
        [("", size, inputs.whole(size), [SCHEMA]) for size in sizes],
        with_growth=True,
    )
