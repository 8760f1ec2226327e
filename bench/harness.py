"""What `--via` adds to an agent CLI: the bare program, and Airtight driving it, in turns on one server.

The machine's pace drifts by more than what is measured, so a round's two runs are compared with each other, and
who goes first changes from round to round.
"""

import json
import pathlib
import statistics
import sys
import tempfile

from fake import PROMPT, Fake
from overhead import Agent, agents, schema
from programs import best_and_median
from setting import NODE_MODULES, QUICK, TARGET
from tables import human, table

ROUNDS = 3 if QUICK else 40
AIM = 0.03


def driven(bare, contract):
    """The same program, driven by Airtight in the same environment."""
    name = bare.name.split(",")[0]
    flags = ["--via", name, "--via-path", NODE_MODULES / ".bin" / name, "--json-schema", f"@{contract}", "--output-format", "json"]
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


def print_harness():
    with tempfile.TemporaryDirectory() as folder, Fake() as fake:
        place = pathlib.Path(folder)
        contract = place / "triage.json"
        contract.write_text(json.dumps(schema()))
        pairs = [(bare, driven(bare, contract)) for _, bare in agents(fake, contract)]
        for agent in sum(pairs, ()):
            agent.settle(place)
        walls = measure(pairs)
    rows, shares = [], []
    for bare, ours in pairs:
        (best, median), (our_best, our_median) = best_and_median(walls[bare]), best_and_median(walls[ours])
        shares.append(statistics.median(ours / alone for alone, ours in zip(walls[bare], walls[ours])) - 1)
        rows.append([bare.name.split(",")[0], human(best), human(our_best), human(median), human(our_median), f"{shares[-1]:+.1%}"])
    header = ["agent CLI", "alone, best", "driven, best", "alone, median", "driven, median", "more, median of the rounds"]
    table(f"One answer of an agent CLI, alone and driven (of {ROUNDS})", header, rows)
    met = all(share < AIM for share in shares)
    print(f"\nAim: less than {AIM:.0%} more. {'Met' if met else 'Missed'}.")
