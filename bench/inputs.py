"""The inputs of bench/run: answers to schemas/agent-response.json, whole and broken."""

import json

LEVELS = ["info", "warning", "critical"]


def answer(size):
    """An answer of about `size` bytes."""
    events, length = [], 200
    while length < size:
        number = len(events)
        event = {
            "level": LEVELS[number % 3],
            "service": f"service-{number % 40}",
            "message": f"check {number} of node-{number % 17} took {number * 7 % 900} ms, it's fine",
        }
        events.append(event)
        length += len(json.dumps(event)) + 2
    return {
        "summary": "All services were checked; one restarted.",
        "events": events,
        "memories": [{"key": "restart", "value": "jellyfin needs two restarts"}],
        "escalation": {"needed": True, "reason": "disk almost full", "failed_checks": ["disk"]},
        "services_checked": [{"name": "jellyfin", "status": "healthy"}],
    }


def whole(size):
    return json.dumps(answer(size))


def typical(size):
    """Prose, a fence, a trailing comma and Python's `True`."""
    text = json.dumps(answer(size), indent=1).replace(": true", ": True")
    text = text[: text.rindex("}")].rstrip() + ",\n}"
    return f"Here is the report you asked for:\n\n```json\n{text}\n```\nLet me know if more is needed."


def single_quotes(size):
    return json.dumps(answer(size)).replace("it's", "it is").replace('"', "'")


def truncated(size):
    """Cut inside the last message, whatever the size."""
    text = json.dumps(answer(size))
    return text[: text.rindex("it's fine")]


def inner_quotes(size):
    return json.dumps(answer(size)).replace("it's fine", 'it is "fine" now')


BROKEN = {
    "prose, fence, trailing comma, True": typical,
    "single quotes": single_quotes,
    "unescaped inner quotes": inner_quotes,
    "truncated": truncated,
}
