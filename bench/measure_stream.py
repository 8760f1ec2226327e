"""Reads a stream of claude as clauditor does (spec CL): json.loads for each line, all of it collected."""

import json
import sys


def read(path):
    messages, events, texts, warnings = [], [], [], []
    tokens, error, result = {"input_tokens": 0, "output_tokens": 0}, None, None
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            line = line.strip()
            if not line:
                continue
            try:
                message = json.loads(line)
            except json.JSONDecodeError as failure:
                warnings.append(f"malformed: {failure}")
                continue
            if not isinstance(message, dict):
                continue
            messages.append(message)
            kind = message.get("type")
            if kind is not None:
                events.append(message)
            if kind == "assistant":
                content = message.get("message", {}).get("content")
                for block in content if isinstance(content, list) else []:
                    if isinstance(block, dict) and block.get("type") == "text":
                        texts.append(block.get("text") or "")
            elif kind == "result":
                result = message
                for name in tokens:
                    count = (message.get("usage") or {}).get(name)
                    tokens[name] += count if isinstance(count, int) else 0
                if message.get("is_error") is True:
                    error = error or message.get("result") or "API error (no detail)"
    return {
        "lines": len(messages), "events": len(events), "output": len("\n".join(texts)), "warnings": len(warnings),
        "tokens": tokens, "error": error, "payload": (result or {}).get("structured_output"),
    }


print(json.dumps(read(sys.argv[1])))
