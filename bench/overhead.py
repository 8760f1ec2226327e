"""What one run costs besides the model: agents as programs, on the same scripted server.

Every agent has a home of its own, which a first run has warmed, an empty folder to work in, and an
environment that names the server and nothing else. All take turns. Their answers are compared.
"""

import json
import os
import pathlib
import sys
import tempfile

from fake import ANSWER, PROMPT, Fake, arrived
from programs import best_and_median, run, run_with_peak
from setting import NODE_MODULES, QUICK, ROOT, TARGET
from tables import against, human, memory_name, table

ROUNDS, PEAKS = (2, 1) if QUICK else (10, 3)
AIM = 20
# What claude refuses to know; without it the contract means the same.
IGNORED = ("$schema", "$id", "x-version", "x-examples")
QUIET_QWEN = {
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {"enableAutoUpdate": False},
}


def schema():
    whole = json.loads((ROOT / "schemas/triage.json").read_text())
    return {key: value for key, value in whole.items() if key not in IGNORED}


def last_result(stdout, member):
    """The answer in what an agent printed: one result, or a list of events that ends with it."""
    printed = json.loads(stdout)
    return (printed[-1] if isinstance(printed, list) else printed).get(member)


class Agent:
    """A program that answers by a contract: how to call it, and where its answer is."""

    def __init__(self, name, command, member, variables):
        self.name, self.command, self.member = name, command, member
        self.variables = {"PATH": os.environ["PATH"], **variables}

    def settle(self, folder):
        """Gives it a home and an empty folder to work in."""
        home, self.work = folder / f"{self.name} home", folder / f"{self.name} work"
        (home / ".qwen").mkdir(parents=True)
        (home / ".qwen/settings.json").write_text(json.dumps(QUIET_QWEN))
        self.work.mkdir()
        self.variables["HOME"] = str(home)

    def check(self, done):
        answer = last_result(done.stdout, self.member)
        if answer != ANSWER:
            raise SystemExit(f"{self.name} answered {json.dumps(answer)}: {done.stdout[-500:]}")

    def run(self):
        done = run(self.command, self.variables, self.work)
        self.check(done)
        return done

    def peak(self):
        done, peak = run_with_peak(self.command, self.variables, self.work)
        self.check(done)
        return peak


def agents(fake, contract):
    """Pairs on the same wire, ours first. The others are started the fastest way there is."""

    def ours(wire, model, base, key):
        flags = ["--json-schema", f"@{contract}", "--model", model, "--base-url", base, "--output-format", "json"]
        return Agent(f"airtight, {wire}", [TARGET / "airtight", "run", *flags, PROMPT], "structured_result", {key: "x"})

    inline = contract.read_text()
    flags = ["--output-format", "json", "--json-schema", inline]
    claude = Agent("claude, Messages", [NODE_MODULES / ".bin/claude", "-p", PROMPT, *flags], "structured_output", {
        "ANTHROPIC_BASE_URL": fake.anthropic,
        "ANTHROPIC_API_KEY": "x",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    })
    # The npm launcher would start Node three times.
    node = [NODE_MODULES / ".bin/node", "--expose-gc", NODE_MODULES / "@qwen-code/qwen-code/cli.js"]
    qwen = Agent("qwen, Chat Completions", [*node, "-p", PROMPT, "--auth-type", "openai", *flags], "structured_result", {
        "OPENAI_BASE_URL": fake.openai,
        "OPENAI_API_KEY": "x",
        "OPENAI_MODEL": "fake",
        "QWEN_CODE_NO_RELAUNCH": "true",
    })
    return [
        (ours("Messages", "anthropic:fake", fake.anthropic, "ANTHROPIC_API_KEY"), claude),
        (ours("Chat Completions", "openai-compatible:fake", fake.openai, "OPENAI_API_KEY"), qwen),
    ]


def observe(agent, fake, clock):
    """One run: nanoseconds to its first request and in all, and its requests."""
    before = len(fake.requests())
    done = agent.run()
    requests = fake.requests()[before:]
    return arrived(requests[0]) + clock - done.start, done, requests


def measure(agents, fake):
    """Figures of each agent: first request, total without the server, CPU, peak, requests."""
    clock, seen = fake.clock(), {agent: [] for agent in agents}
    for agent in agents:
        agent.run()
    for _ in range(ROUNDS):
        for agent in agents:
            seen[agent].append(observe(agent, fake, clock))
            print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    figures = {}
    for agent, runs in seen.items():
        requests = runs[-1][2]
        server = fake.server_time(requests)
        figures[agent] = {
            "first": best_and_median([first for first, _, _ in runs]),
            "rest": best_and_median([done.wall - server for _, done, _ in runs]),
            "cpu": min(done.cpu for _, done, _ in runs),
            "peak": min(agent.peak() for _ in range(PEAKS)),
            "requests": len(requests),
            "sent": sum(len(json.dumps(request["body"])) for request in requests),
            "server": server,
        }
    return figures


def row(agent, figures, ours):
    """A row; `ours` is what to compare with, or None."""

    def cell(pick, name=human):
        return against(pick(ours), pick(figures), name) if ours else name(pick(figures))

    return [
        agent.name,
        *(cell(lambda f, at=at: f["first"][at]) for at in (0, 1)),
        *(cell(lambda f, at=at: f["rest"][at]) for at in (0, 1)),
        cell(lambda f: f["cpu"]),
        cell(lambda f: f["peak"], memory_name),
        f"{figures['requests']}, {figures['sent'] / 1000:.1f} KB",
        human(figures["server"]),
    ]


def missed(agent, figures, ours):
    """What falls short of the aim."""
    ratios = {
        "time to the first request": figures["first"][1] / ours["first"][1],
        "total time": figures["rest"][1] / ours["rest"][1],
        "peak memory": figures["peak"] / ours["peak"],
    }
    return [f"{what} of {agent.name.split(',')[0]} ({ratio:.1f}×)" for what, ratio in ratios.items() if ratio < AIM]


def print_overhead():
    with tempfile.TemporaryDirectory() as folder, Fake() as fake:
        place = pathlib.Path(folder)
        contract = place / "triage.json"
        contract.write_text(json.dumps(schema()))
        pairs = agents(fake, contract)
        for agent in sum(pairs, ()):
            agent.settle(place)
        figures = measure(sum(pairs, ()), fake)
    rows, short = [], []
    for ours, theirs in pairs:
        rows += [row(ours, figures[ours], None), row(theirs, figures[theirs], figures[ours])]
        short += missed(theirs, figures[theirs], figures[ours])
    header = ["agent, wire", "start to first request, best", "median", "total minus server, best", "median", "processor time, best", "peak memory", "requests", "server"]
    table(f"One run with a contract, on the same server (of {ROUNDS})", header, rows)
    print(f"\nAim: {AIM} times less time (by the median) and memory. {'Missed: ' + '; '.join(short) if short else 'Met'}.")
