"""What `--via` adds to an agent CLI: the bare program, and Airtight driving it, in turns on one server."""

import json
import pathlib
import sys
import tempfile

from fake import PROMPT, Fake
from overhead import Agent, agents, schema
from programs import best_and_median
from setting import NODE_MODULES, QUICK, TARGET
from tables import human, table

ROUNDS = 3 if QUICK else 20
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
    for _ in range(ROUNDS):
        for agent in walls:
            walls[agent].append(agent.run().wall)
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {agent: best_and_median(times) for agent, times in walls.items()}


def print_harness():
    with tempfile.TemporaryDirectory() as folder, Fake() as fake:
        place = pathlib.Path(folder)
        contract = place / "triage.json"
        contract.write_text(json.dumps(schema()))
        pairs = [(bare, driven(bare, contract)) for _, bare in agents(fake, contract)]
        for agent in sum(pairs, ()):
            agent.settle(place)
        figures = measure(pairs)
    rows, shares = [], []
    for bare, ours in pairs:
        (best, median), (our_best, our_median) = figures[bare], figures[ours]
        shares.append(our_median / median - 1)
        rows.append([bare.name.split(",")[0], human(best), human(our_best), human(median), human(our_median), f"{shares[-1]:+.1%}"])
    header = ["agent CLI", "alone, best", "driven, best", "alone, median", "driven, median", "more, by the median"]
    table(f"One answer of an agent CLI, alone and driven (of {ROUNDS})", header, rows)
    met = all(share < AIM for share in shares)
    print(f"\nAim: less than {AIM:.0%} more. {'Met' if met else 'Missed'}.")
