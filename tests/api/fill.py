"""Puts something into the ledger of a server: runs that conform and that do not, and a memory."""

import json
import os
import sys
import urllib.error
import urllib.request

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 0, "maximum": 10}},
    "required": ["score"],
    "additionalProperties": False,
}


def post(path: str, body: dict) -> int:
    """Posts JSON, and returns the status."""
    request = urllib.request.Request(sys.argv[1] + path, json.dumps(body).encode())
    request.add_header("Content-Type", "application/json")
    request.add_header("Authorization", "Bearer " + os.environ["API_TOKEN"])
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status
    except urllib.error.HTTPError as error:
        return error.code


question = {
    "model": "airtight",
    "messages": [{"role": "user", "content": "How good is it?"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "score", "schema": SCHEMA}},
}
statuses = [post("/v1/chat/completions", question) for _ in range(3)]
assert sorted(statuses) == [200, 200, 422], statuses
assert post("/api/v1/memories", {"category": "timing", "observation": "slow"}) == 201
