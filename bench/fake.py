"""The scripted model server, its clock and its log."""

import http.client
import json
import pathlib
import subprocess
import tempfile
import time
import urllib.parse

from setting import TARGET

# Answered by schemas/triage.json.
PROMPT = "Sort this report: the parser hangs."
ANSWER = {"severity": "high", "component": "parser", "summary": "The parser hangs on deep nesting.", "needs_human": True}
HEADERS = {"content-type": "application/json", "authorization": "Bearer x", "x-api-key": "x", "anthropic-version": "2023-06-01"}


def call(tool, wire_text):
    piece = {"type": "call", "name": tool, "arguments": ANSWER}
    return {"when": {"contains": [wire_text]}, "repeat": "forever", "reply": {"type": "say", "pieces": [piece]}}


# Whoever offers a tool for the answer gets it by that tool, everybody else as text. A program may
# ask for more than the answer; it gets the text as well. Vendors take more than the server knows:
# what it refuses, claude asks again in older words.
SCRIPT = {
    "checks": "off",
    "turns": [call(name, name) for name in ("StructuredOutput", "structured_output")],
    "otherwise": {"reply": {"type": "say", "pieces": [{"type": "text", "text": json.dumps(ANSWER)}]}},
}


def held(gate):
    """A script that answers whoever says the name of the gate only once that is open."""
    points = [{"after": 1, "act": {"type": "gate", "name": gate}}]
    turn = {"when": {"contains": [gate]}, "repeat": "forever", **SCRIPT["otherwise"], "points": points}
    return {**SCRIPT, "turns": [turn]}


class Fake:
    """A server while it runs: `with Fake() as fake`. Without a log it is quicker, and tells nothing."""

    def __init__(self, log=True, script=SCRIPT):
        self.is_logged, self.script = log, script

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        place = pathlib.Path(self.folder.name)
        (place / "script.json").write_text(json.dumps(self.script))
        self.log = place / "log.ndjson"
        command = [TARGET / "airtight-fake", "--script", place / "script.json"]
        command += ["--log", self.log] if self.is_logged else ["--forget"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        bases = json.loads(self.process.stdout.readline())
        self.anthropic, self.openai = bases["anthropic"], bases["openai"]
        self.address = urllib.parse.urlsplit(self.anthropic).netloc
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def requests(self):
        """All requests so far, in order."""
        lines = (json.loads(line) for line in self.log.read_bytes().split(b"\n") if line)
        return [line["request"] for line in lines if line["type"] == "request"]

    def arrivals(self):
        """How many requests were read so far; the last line may be half written."""
        return self.log.read_bytes().count(b'{"type":"request"')

    def open(self, gate):
        """Lets everybody through who waits at a gate."""
        connection = http.client.HTTPConnection(self.address)
        connection.request("POST", f"/fake/gates/{gate}")
        connection.getresponse().read()

    def send(self, connection, path, body):
        """Sends one request, reads its answer to the end, and returns when both happened."""
        start = time.monotonic_ns()
        connection.request("POST", path, body, HEADERS)
        connection.getresponse().read()
        return start, time.monotonic_ns()

    def clock(self):
        """What to add to a time of the log, in nanoseconds, to have it on our monotonic clock.

        A request arrives after it was sent and before it was answered; of twenty, the tightest
        bounds are well below a millisecond apart.
        """
        connection, first = http.client.HTTPConnection(self.address), len(self.requests())
        body = json.dumps({"model": "fake", "messages": [{"role": "user", "content": "What time is it?"}]})
        times = [self.send(connection, "/v1/chat/completions", body) for _ in range(20)]
        arrivals = [arrived(request) for request in self.requests()[first:]]
        earliest = max(sent - at for (sent, _), at in zip(times, arrivals, strict=True))
        latest = min(answered - at for (_, answered), at in zip(times, arrivals, strict=True))
        return (earliest + latest) // 2

    def server_time(self, requests):
        """What a bare client needs for the same requests, one after the other, each at its best."""
        connection, total = http.client.HTTPConnection(self.address), 0
        for request in requests:
            if request["method"] != "POST":
                continue
            path = request["path"] + (f"?{request['query']}" if request["query"] else "")
            body = json.dumps(request["body"], separators=(",", ":"))
            times = [self.send(connection, path, body) for _ in range(10)]
            total += min(answered - sent for sent, answered in times)
        return total


def arrived(request):
    """When a request had been read, in nanoseconds since the server's start."""
    return request["arrived"]["secs"] * 1_000_000_000 + request["arrived"]["nanos"]
