"""`airtight serve` beside the LiteLLM proxy, on the same scripted server: what stands between a client and its model.

Every measurement has a scripted server and a proxy of its own. The load is wrk's (one thread, which answers are
not read by); before and after it an answer is compared. Airtight judges each answer by the contract while it
grows and has it on disk before it is sent; LiteLLM passes answers on as they come, and keeps nothing.
"""

import asyncio
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

from fake import ANSWER, PROMPT, Fake, held
from overhead import schema
from setting import CACHE, QUICK, TARGET
from tables import against, human, memory_name, table

SECONDS, ROUNDS = (5, 1) if QUICK else (8, 3)
IN_FLIGHT = [1, 16, 256]
CROWD = 1000
AIM = 10
PATIENCE_S = 180
# How long a crowd has to reach the model; less than any of its requests may take.
CROWD_S = 30
TOKEN = "token-of-the-bench-0123456789"
LITELLM = CACHE / "venv-gateway/bin/litellm"
# Reported by wrk itself: times are in microseconds.
SCRIPT = """
wrk.method = "POST"
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer %s"
wrk.body = [[%s]]
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('{"requests": %%d, "us": %%d, "p50": %%d, "p99": %%d, "failed": %%d}\\n', summary.requests,
    summary.duration, latency:percentile(50), latency:percentile(99), e.connect + e.read + e.write + e.status + e.timeout))
end
"""


def gateway_versions():
    """The version of the peer, as installed, and of what it runs on."""
    code = "import importlib.metadata as m, sys; print('LiteLLM', m.version('litellm') + '; Python', sys.version.split()[0])"
    return subprocess.run([LITELLM.parent / "python", "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def body(model, prompt=PROMPT):
    form = {"type": "json_schema", "json_schema": {"name": "triage", "schema": schema(), "strict": True}}
    return json.dumps({"model": model, "messages": [{"role": "user", "content": prompt}], "response_format": form})


class NoStart(Exception):
    """A proxy that does not answer in time. uvicorn ends workers that are slow to load, on busy machines."""


class Proxy:
    """A program between clients and the scripted server, while it runs."""

    def __init__(self, name, model):
        self.name, self.model = name, model

    def command(self, folder, fake):
        raise NotImplementedError

    @contextlib.contextmanager
    def running(self, fake):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            command, variables = self.command(folder, fake)
            variables = {"PATH": os.environ["PATH"], "HOME": name, "OPENAI_API_KEY": "x", **variables}
            with (folder / "said").open("wb") as said:
                child = subprocess.Popen(
                    [str(part) for part in command], env=variables, cwd=name, stdin=subprocess.DEVNULL, stdout=said,
                    stderr=said, start_new_session=True,
                )
            try:
                self.pid, self.base = child.pid, self.address(child, folder)
                check(self)
                yield self
            finally:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()

    def address(self, child, folder):
        """Waits until it answers, and returns where."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline and child.poll() is None:
            if base := self.is_ready(folder):
                return base
            time.sleep(0.05)
        raise NoStart(f"{self.name} does not start within {PATIENCE_S} s here: {(folder / 'said').read_text()[-500:]}")

    def processes(self):
        """The numbers of it and of its children, with what the kernel says of each."""
        told, parents = {}, {}
        for status in pathlib.Path("/proc").glob("[0-9]*/status"):
            with contextlib.suppress(OSError):
                pid = int(status.parent.name)
                told[pid] = status.read_text()
                parents[pid] = int(re.search(r"PPid:\s+(\d+)", told[pid])[1])

        def is_ours(pid):
            return pid == self.pid or (pid in parents and parents[pid] != 0 and is_ours(parents[pid]))

        return {pid: text for pid, text in told.items() if is_ours(pid)}

    def forget_peak(self):
        """Has the kernel count peak memory from now on."""
        for pid in self.processes():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")

    def peak(self):
        """The peak memory of it and of its children, in KiB."""
        found = (re.search(r"VmHWM:\s+(\d+)", text) for text in self.processes().values())
        return sum(int(peak[1]) for peak in found if peak)


class Airtight(Proxy):
    def command(self, folder, fake):
        flags = ["--bind", "127.0.0.1:0", "--token-env", "TOKEN", "--database", folder / "ledger.db"]
        return [TARGET / "airtight", "serve", *flags], {"TOKEN": TOKEN, "OPENAI_BASE_URL": fake.openai}

    def is_ready(self, folder):
        found = re.search(r"serving (http://\S+)", (folder / "said").read_text())
        return found and found[1] + "/v1"


class LiteLlm(Proxy):
    def __init__(self, workers):
        super().__init__(f"LiteLLM, {workers} worker{'s' if workers > 1 else ''}", "fake")
        self.workers = workers

    def command(self, folder, fake):
        model = {"model": "openai/fake", "api_base": fake.openai, "api_key": "x"}
        settings = {
            "model_list": [{"model_name": "fake", "litellm_params": model}],
            "general_settings": {"master_key": TOKEN},
            "litellm_settings": {"telemetry": False, "num_retries": 0, "request_timeout": PATIENCE_S},
        }
        # JSON is YAML.
        (folder / "config.yaml").write_text(json.dumps(settings))
        self.port = free_port()
        flags = ["--config", folder / "config.yaml", "--host", "127.0.0.1", "--port", self.port, "--num_workers", self.workers]
        quiet = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_LOG": "ERROR", "LITELLM_TELEMETRY": "False"}
        return [LITELLM, *flags], quiet

    def is_ready(self, _folder):
        with contextlib.suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
            connection.request("GET", "/health/liveliness")
            if connection.getresponse().status == 200:
                return f"http://127.0.0.1:{self.port}/v1"
        return None


class Direct(Proxy):
    """Nothing in between."""

    @contextlib.contextmanager
    def running(self, fake):
        self.base = fake.openai
        check(self)
        yield self

    def processes(self):
        return {}


def free_port():
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def check(proxy):
    """Demands the right answer."""
    place = urllib.parse.urlsplit(proxy.base)
    connection = http.client.HTTPConnection(place.netloc, timeout=PATIENCE_S)
    headers = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
    connection.request("POST", f"{place.path}/chat/completions", body(proxy.model), headers)
    response = connection.getresponse()
    text = response.read().decode()
    answer = json.loads(json.loads(text)["choices"][0]["message"]["content"]) if response.status == 200 else text
    if answer != ANSWER:
        raise SystemExit(f"{proxy.name} answered {response.status}: {text[:500]}")


def load(proxy, in_flight, seconds):
    """What wrk saw in so many seconds, which may be too short for an answer."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(SCRIPT % (TOKEN, body(proxy.model)))
        script.flush()
        command = ["wrk", "-t1", f"-c{in_flight}", f"-d{seconds}s", "--timeout", "60s", "-s", script.name]
        done = subprocess.run([*command, f"{proxy.base}/chat/completions"], capture_output=True, text=True, check=True)
    figures = json.loads(done.stdout.strip().split("\n")[-1])
    if figures["failed"]:
        raise SystemExit(f"{proxy.name}, {in_flight} in flight: {done.stdout}")
    return {"rate": figures["requests"] / figures["us"] * 1e6, "p50": figures["p50"] * 1000, "p99": figures["p99"] * 1000}


def measure(proxy):
    """Figures for each load; memory of the smaller ones is not that of the larger."""
    with Fake(log=False) as fake, proxy.running(fake):
        figures = {}
        for in_flight in IN_FLIGHT:
            load(proxy, in_flight, 1)
            # Answered behind those that wrk left without an answer: LiteLLM works on them for seconds.
            check(proxy)
            proxy.forget_peak()
            figures[in_flight] = load(proxy, in_flight, SECONDS)
            if not figures[in_flight]["rate"]:
                raise SystemExit(f"{proxy.name} answered none of {in_flight} in {SECONDS} s")
            figures[in_flight]["peak"] = proxy.peak()
            print(".", end="", file=sys.stderr, flush=True)
        check(proxy)
        return figures


def best(before, now):
    """The quieter of two measurements, load by load."""
    if before is None:
        return now
    loads = {}
    for in_flight, figures in now.items():
        pairs = {name: (figures[name], before[in_flight][name]) for name in figures}
        loads[in_flight] = {name: max(pair) if name == "rate" else min(pair) for name, pair in pairs.items()}
    return loads


async def ask(place, text):
    """The whole answer to one request, on a connection of its own."""
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(text)
    await writer.drain()
    said = await reader.read()
    writer.close()
    head, _, answer = said.partition(b"\r\n\r\n")
    # LiteLLM also repeats the headers of its provider, under names of its own.
    if b"\r\ntransfer-encoding: chunked" in head.lower():
        answer = b"".join(answer.split(b"\r\n")[1::2])
    with contextlib.suppress(ValueError, KeyError, IndexError):
        return json.loads(json.loads(answer)["choices"][0]["message"]["content"]) == ANSWER
    return False


async def crowd(proxy, fake):
    """So many requests, all of which reach the model before any is answered: seconds after that, and right answers."""
    place, asked = urllib.parse.urlsplit(proxy.base), body(proxy.model, f"{PROMPT} held")
    head = f"POST {place.path}/chat/completions HTTP/1.1\r\nhost: {place.netloc}\r\nconnection: close\r\n"
    head += f"content-type: application/json\r\nauthorization: Bearer {TOKEN}\r\ncontent-length: {len(asked)}\r\n\r\n"
    before = fake.arrivals()
    asking = [asyncio.create_task(ask(place, (head + asked).encode())) for _ in range(CROWD)]
    deadline = time.monotonic() + CROWD_S
    while (reached := fake.arrivals() - before) < CROWD and time.monotonic() < deadline:
        await asyncio.sleep(0.1)
    start = time.monotonic_ns()
    fake.open("held")
    right = sum(await asyncio.gather(*asking))
    return {"reached": reached, "ns": time.monotonic_ns() - start, "right": right}


def print_crowd(proxies):
    rows, ours = [], None
    for proxy in proxies:
        with Fake(script=held("held")) as fake, proxy.running(fake):
            seen = asyncio.run(crowd(proxy, fake))
            peak = proxy.peak()
        ours = ours or (seen, peak)
        first = seen is ours[0]
        rows.append([
            proxy.name,
            f"{seen['reached']} of {CROWD}",
            f"{seen['right']} of {CROWD}",
            human(seen["ns"]) if first else against(ours[0]["ns"], seen["ns"]),
            memory_name(peak) if first else against(ours[1], peak, memory_name),
        ])
    header = ["proxy", "at the model at once", "right answers", "until all are answered", "peak memory"]
    table(f"{CROWD:,} requests in flight at once", header, rows)
    if ours[0]["right"] != CROWD:
        raise SystemExit("airtight lost answers")


def rows_of(seen, direct):
    rows, ours = [], None
    for name, figures in seen.items():
        added, peak = {side: figures[side] - direct[side] for side in ("p50", "p99")}, figures["peak"]
        if ours is None:
            cells = [f"{figures['rate']:,.0f}", *(human(added[side]) for side in added), memory_name(peak)]
        else:
            rate = f"{figures['rate']:,.0f} ({ours['rate'] / figures['rate']:,.1f}× fewer)"
            cells = [rate, *(against(ours[side], added[side]) for side in added), against(ours["peak"], peak, memory_name)]
        ours = ours or {**added, "rate": figures["rate"], "peak": peak}
        rows.append([name, *cells])
    return rows, ours


def shortfalls(seen, direct, in_flight, ours):
    """What of a peer is less than so many times ours."""
    for name, figures in list(seen.items())[1:]:
        ratios = {
            "requests per second": ours["rate"] / figures["rate"],
            "added latency, p50": (figures["p50"] - direct["p50"]) / ours["p50"],
            "added latency, p99": (figures["p99"] - direct["p99"]) / ours["p99"],
            "peak memory": figures["peak"] / ours["peak"],
        }
        yield from (f"{what} of {name} at {in_flight} ({ratio:.1f}×)" for what, ratio in ratios.items() if ratio < AIM)


def print_gateway():
    direct = Direct("no proxy", "fake")
    ours = Airtight("airtight serve", "openai-chat:fake")
    peers = [LiteLlm(1), LiteLlm(2)]
    seen = {}
    for _ in range(ROUNDS):
        for proxy in [direct, ours, *peers]:
            try:
                seen[proxy.name] = best(seen.get(proxy.name), measure(proxy))
            except NoStart as told:
                if proxy is ours:
                    raise SystemExit(str(told)) from None
                peers.remove(proxy)
                print(f"\nWithout one peer: {told}")
    print(file=sys.stderr)
    bare = seen.pop(direct.name)
    short = []
    for in_flight in IN_FLIGHT:
        at = {name: figures[in_flight] for name, figures in seen.items()}
        rows, first = rows_of(at, bare[in_flight])
        alone = bare[in_flight]
        rows.insert(0, ["no proxy", f"{alone['rate']:,.0f}", f"({human(alone['p50'])})", f"({human(alone['p99'])})", "–"])
        header = ["proxy", "requests per second", "added latency, p50", "p99", "peak memory"]
        table(f"Proxies, {in_flight} in flight", header, rows)
        short += shortfalls(at, alone, in_flight, first)
    print_crowd([ours, *peers])
    print(f"\nAim: {AIM} times better on each. {'Missed: ' + '; '.join(short) if short else 'Met'}.")
