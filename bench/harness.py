"""What `--via` adds to an agent CLI: the bare program, and Airtight driving it, in turns on one server.

The machine's pace drifts by more than what is measured, so a round's two runs are compared with each other, and
who goes first changes from round to round. What does not drift with the program is measured apart: a stand-in that
prints what claude printed, and ends.
"""

import json
import pathlib
import shlex
import statistics
import sys
import tempfile

from fake import PROMPT, Fake
from overhead import Agent, agents, schema
from programs import best_and_median, run
from setting import NODE_MODULES, QUICK, TARGET
from tables import human, table

ROUNDS = 3 if QUICK else 40
AIM = 0.03
# Its first run is the program's own.
STAND_IN = """#!/bin/sh
[ "$1" = --version ] && exec {program} --version
[ -s {printed} ] || {program} "$@" > {printed}
exec cat {printed}
"""


def driven(bare, contract, program=None):
    """The same program, driven by Airtight in the same environment, or another in its place."""
    name = bare.name.split(",")[0]
    path = program or NODE_MODULES / ".bin" / name
    flags = ["--via", name, "--via-path", path, "--json-schema", f"@{contract}", "--output-format", "json"]
    more = ["--via-arg", "--auth-type", "--via-arg", "openai"] if name == "qwen" else []
    command = [TARGET / "airtight", "run", *flags, *more, PROMPT]
    return Agent(f"airtight --via {name}", command, "structured_output", dict(bare.variables))


def measure(pairs):
    """Wall times of each pair, in turns."""
    walls = {agent: [] for pair in pairs for agent in pair}
    for agent in walls:
        agent.run()
    for number in range(ROUNDS):
        for pair in pairs:
            for agent in pair if number % 2 else pair[::-1]:
                walls[agent].append(agent.run().wall)
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return walls


def measure_stand_in(bare, contract, place):
    """Wall times of a program that only prints what claude printed, alone and driven."""
    path, program = place / "stand-in", shlex.quote(str(NODE_MODULES / ".bin/claude"))
    path.write_text(STAND_IN.format(program=program, printed=shlex.quote(str(place / "printed"))))
    path.chmod(0o755)
    ours = driven(bare, contract, path)
    ours.name = "airtight --via stand-in"
    ours.settle(place)
    ours.run()
    walls = [(run([path], bare.variables, bare.work).wall, ours.run().wall) for _ in range(ROUNDS)]
    return zip(*walls)


def print_harness():
    with tempfile.TemporaryDirectory() as folder, Fake() as fake:
        place = pathlib.Path(folder)
        contract = place / "triage.json"
        contract.write_text(json.dumps(schema()))
        pairs = [(bare, driven(bare, contract)) for _, bare in agents(fake, contract)]
        for agent in sum(pairs, ()):
            agent.settle(place)
        walls = measure(pairs)
        claude = pairs[0][0]
        print_alone, print_driven = map(statistics.median, measure_stand_in(claude, contract, place))
    rows, shares = [], []
    for bare, ours in pairs:
        (best, median), (our_best, our_median) = best_and_median(walls[bare]), best_and_median(walls[ours])
        shares.append(statistics.median(ours / alone for alone, ours in zip(walls[bare], walls[ours])) - 1)
        rows.append([bare.name.split(",")[0], human(best), human(our_best), human(median), human(our_median), f"{shares[-1]:+.1%}"])
    header = ["agent CLI", "alone, best", "driven, best", "alone, median", "driven, median", "more, median of the rounds"]
    table(f"One answer of an agent CLI, alone and driven (of {ROUNDS})", header, rows)
    met = all(share < AIM for share in shares)
    print(f"\nAim: less than {AIM:.0%} more. {'Met' if met else 'Missed'}.")
    share = (print_driven - print_alone) / statistics.median(walls[claude])
    print(f"A program that only prints what claude printed: {human(print_alone)} alone, {human(print_driven)} driven (medians).")
    print(f"Driving takes {human(print_driven - print_alone)} by itself, {share:.1%} of what claude takes alone.")
