"""A long stream of claude, made of our fixtures: the same bytes for the same size."""

import json
import random

from setting import MB, ROOT

FIXTURE = ROOT / "fixtures/transcripts/claude/structured.ndjson"
WORDS = "the service restarts when its disk is full so check each node before the next one fails again".split()
SEED = 20261116
# How often lines are of each kind, and how long what they hold is: as in recordings of real sessions.
TURNS = {"text": 3, "call": 4, "piece": 6}
RESULT_BYTES = [200, 2_000, 20_000]


def prose(chance, length):
    words = []
    while length > 0:
        words.append(chance.choice(WORDS))
        length -= len(words[-1]) + 1
    return " ".join(words)


def said(number, content):
    usage = {"input_tokens": 11, "cache_read_input_tokens": number, "output_tokens": 7}
    message = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-opus-5-5", "content": content, "usage": usage}
    return {"type": "assistant", "message": message, "parent_tool_use_id": None, "session_id": "s", "uuid": f"u-{number}"}


def turn(chance, number):
    """The lines of one turn."""
    kind = chance.choices(list(TURNS), TURNS.values())[0]
    if kind == "text":
        return [said(number, [{"type": "text", "text": prose(chance, 150)}])]
    if kind == "piece":
        event = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": prose(chance, 20)}}
        return [{"type": "stream_event", "event": event, "session_id": "s", "parent_tool_use_id": None, "uuid": f"u-{number}"}]
    call = f"toolu_{number}"
    read = {"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": f"/work/file-{number}.rs", "limit": 200}}
    text = "\n".join(f'{line}\t"{prose(chance, 60)}"' for line in range(chance.choice(RESULT_BYTES) // 70 + 1))
    result = {"type": "tool_result", "tool_use_id": call, "content": text}
    told = {"type": "user", "message": {"role": "user", "content": [result]}, "parent_tool_use_id": None, "session_id": "s"}
    return [said(number, [read]), told]


def write_stream(path, size):
    """Writes about `size` bytes, unless that was done before: a beginning, many turns, and the end."""
    if path.exists() and path.stat().st_size >= size:
        return
    *beginning, end = FIXTURE.read_text().splitlines()
    chance = random.Random(SEED)
    written, number = 0, 0
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as stream:
        written += stream.write("\n".join(beginning) + "\n")
        while written < size:
            for line in turn(chance, number):
                written += stream.write(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n")
            number += 1
        stream.write(end + "\n")
    part.rename(path)


def stream_of(folder, megabytes):
    path = folder / f"claude-{megabytes}-{SEED}.ndjson"
    write_stream(path, megabytes * MB)
    return path
