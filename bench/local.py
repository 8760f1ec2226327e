"""The embedded model beside llama.cpp on the same weights, and grammars beside each other.

Everybody gets the same questions (`fixtures/local/contracts.json`, as the product words them) and
the same budget of tokens, and chooses the likeliest token. Each measurement is a process of its
own; all take turns, and each keeps its best round. What is not installed is named.

One thread is what is compared: on two cores that other programs want too, two threads of llama.cpp
took five times as long as one.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from programs import run, run_with_peak
from setting import CACHE, QUICK, ROOT, TARGET
from tables import against, human, memory_name, table

PROMPTS, ROUNDS = (1, 1) if QUICK else (2, 2)
BUDGET = 256
# A model that writes all its budget, on a busy machine.
TIMEOUT_S = 3600
OURS = TARGET / "examples/measure_speed"
PYTHON_OF_ENGINES = CACHE / "venv-local/bin/python"
ILLEGAL_INSTRUCTION = -4
MODES = {
    "airtight": ("airtight", "constrained", 1),
    "airtight, token by token": ("airtight", "plain", 1),
    "airtight, without constraint": ("airtight", "free", 1),
    "llama-cpp-python": ("llama-cpp-python", "constrained", 1),
    "llama-cpp-python, without constraint": ("llama-cpp-python", "free", 1),
}
if not QUICK:
    MODES["airtight, two threads"] = ("airtight", "constrained", 2)
    MODES["llama-cpp-python, two threads"] = ("llama-cpp-python", "constrained", 2)
GRAMMARS = {"airtight": "", "xgrammar": "xgrammar", "outlines-core": "outlines_core"}


def ours(*arguments):
    return json.loads(run([OURS, *arguments], timeout_s=TIMEOUT_S).stdout)


def version(package):
    """The version of an optional peer, or None if it is not installed."""
    code = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    try:
        done = subprocess.run([PYTHON_OF_ENGINES, "-c", code, package], capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def present(packages):
    """The peers that are installed; the others are named aloud."""
    versions = {package: version(package) for package in packages}
    missing = [package for package, found in versions.items() if not found]
    print(f"\nPeers: {', '.join(f'{name} {found}' for name, found in versions.items() if found) or 'none'}.")
    if missing:
        print(f"\n**Not installed, and therefore not measured: {', '.join(missing)}.** `scripts/setup bench` says why.")
    return [package for package in packages if package not in missing]


def llama(mode, weights, questions, *settings):
    return [PYTHON_OF_ENGINES, ROOT / "bench/measure_llama.py", mode, weights, questions, *settings]


def layout(weights, questions):
    """How llama.cpp may lay out weights: some machines announce matrix instructions and lack them."""
    probe = [str(part) for part in llama("probe", weights, questions, 1, 1, "any")]
    done = subprocess.run(probe, capture_output=True, timeout=TIMEOUT_S)
    if done.returncode != ILLEGAL_INSTRUCTION:
        return "any"
    print("\nllama.cpp dies of the matrix instructions that this machine announces (AMX), so it does without them.")
    return "plain"


def in_turns(peers, weights, questions):
    """The best round of each mode: what it printed, and its peak memory."""
    best, form = {}, layout(weights, questions) if "llama-cpp-python" in peers else ""
    for _ in range(ROUNDS):
        for name, (peer, mode, threads) in MODES.items():
            if peer not in ["airtight", *peers]:
                continue
            command = [OURS, mode, weights, PROMPTS, threads, BUDGET]
            if peer != "airtight":
                command = llama(mode, weights, questions, threads, BUDGET, form)
            done, peak = run_with_peak(command, timeout_s=TIMEOUT_S)
            figures = {**json.loads(done.stdout), "peak": peak, "cpu": done.cpu}
            best[name] = min(best.get(name, figures), figures, key=seconds_per_answer)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return best


def total(figures, member):
    return sum(answer[member] for answer in figures["answers"])


def seconds_per_answer(figures):
    return total(figures, "ns") / len(figures["answers"]) / 1e9


def rate(figures, what):
    return f"{total(figures, f'{what}_tokens') / total(figures, f'{what}_ns') * 1e9:.0f}"


def conforming(figures, questions, folder):
    """How many answers the contract accepts as they stand; our verdict, for everybody."""
    lines = folder / "answers"
    pairs = zip(questions, figures["answers"], strict=True)
    lines.write_text("".join(json.dumps({"schema": q["schema"], "text": a["text"]}) + "\n" for q, a in pairs))
    return ours("judge", lines)


def row(name, figures, first, conform):
    count = len(figures["answers"])
    seconds = [seconds_per_answer(each) for each in (first, figures)]
    tokens, forced = total(figures, "answer_tokens"), total(figures, "forced_tokens")
    return [
        name,
        f"{seconds[1]:.3g} s" if figures is first else against(*seconds, lambda s: f"{s:.3g} s"),
        human(figures["cpu"] / count),
        f"{conform} of {count}",
        f"{tokens / count:.0f}" + (f", {forced / tokens:.0%} forced" if forced else ""),
        rate(figures, "prompt"),
        rate(figures, "answer"),
        human(figures["load_ns"]),
        memory_name(figures["peak"]),
    ]


def print_answers(peers, weights, asked, folder):
    best = in_turns(peers, weights, folder / "questions")
    first = best["airtight"]
    conform = {name: conforming(figures, asked["questions"], folder) for name, figures in best.items()}
    header = ["engine", "per answer", "processor time", "conform", "tokens per answer", "prompt tokens/s", "answer tokens/s", "load", "peak memory"]
    rows = [row(name, figures, first, conform[name]) for name, figures in best.items()]
    table(f"{len(asked['questions'])} answers by 20 contracts, one thread, at most {BUDGET} tokens", header, rows)
    seconds = {name: seconds_per_answer(figures) for name, figures in best.items()}
    for name, aim in {
        "airtight, without constraint": "at least as fast as without constraint",
        "llama-cpp-python": "ahead of llama-cpp-python with its grammar",
    }.items():
        if name in seconds:
            ratio = seconds[name] / seconds["airtight"]
            print(f"\nAim, per finished answer: {aim}. {'Met' if ratio >= 1 else 'Missed'} ({ratio:.2f}×).")
    return first


def percentile(figures, share):
    figures = sorted(figures)
    return figures[min(len(figures) - 1, int(len(figures) * share))] if figures else "–"


def measure_masks(grammar, weights, folder):
    """What a grammar's compiling and masks take, or a word for why there is no figure."""
    answers = folder / "followed"
    if grammar == "airtight":
        return ours("masks", weights, answers)
    program = [PYTHON_OF_ENGINES, ROOT / "bench/measure_masks.py", GRAMMARS[grammar], folder / "questions", answers]
    return json.loads(run(program, timeout_s=TIMEOUT_S).stdout)


def print_masks(peers, weights, asked, first, folder):
    """Masks for the first answer by each contract, as the embedded model gave it."""
    pairs = list(zip(asked["questions"], first["answers"], strict=True))[::PROMPTS]
    lines = ({"schema": q["schema"], "tokens": a["tokens"]} for q, a in pairs)
    (folder / "followed").write_text("".join(json.dumps(line) + "\n" for line in lines))
    figures = {grammar: measure_masks(grammar, weights, folder) for grammar in GRAMMARS if grammar in ["airtight", *peers]}
    rows = []
    for grammar, found in figures.items():
        cells = [(member, share) for member in ("compile_ns", "mask_ns") for share in (0.5, 0.99)]
        values = [[percentile(each[member], share) for each in (figures["airtight"], found)] for member, share in cells]
        times = [human(value[1]) if grammar == "airtight" else against(*value) for value in values]
        counts = [f"{count} of {len(pairs)}" for count in (len(found["compile_ns"]), found["followed"])]
        rows.append([grammar, *counts, *times])
    header = ["grammar", "contracts compiled", "answers followed to their end", "compile, p50", "p99", "mask, p50", "p99"]
    table("Grammars alone: a mask for each token of the same answers", header, rows)


def print_local():
    pulled = ours("pull", CACHE / "models")
    print(f"\n# Embedded model: {pulled['title']}")
    peers = present(["llama-cpp-python", "xgrammar", "outlines-core"])
    with tempfile.TemporaryDirectory() as name:
        folder, weights = pathlib.Path(name), pulled["path"]
        asked = ours("questions", weights, PROMPTS)
        (folder / "questions").write_text(json.dumps(asked))
        first = print_answers(peers, weights, asked, folder)
        print_masks(peers, weights, asked, first, folder)
