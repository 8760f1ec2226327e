"""Times many runs of a Python peer in one process, for bench/throughput.py.

Usage: measure_runs.py PEER BASE_URL RUNS IN_FLIGHT SCHEMA ANSWER
Prints {"ns": all runs, "right": how many returned the expected answer}; failures go to stderr.
"""

import asyncio
import json
import sys
import time

PROMPT = "Sort this report: the parser hangs."
MESSAGES = [{"role": "user", "content": PROMPT}]


def litellm(base_url, schema):
    """litellm checks the answer with jsonschema when told to."""
    import litellm as peer

    peer.enable_json_schema_validation = True
    peer.telemetry = False
    form = {"type": "json_schema", "json_schema": {"name": "triage", "schema": schema, "strict": True}}

    async def run():
        response = await peer.acompletion(
            model="openai/fake", api_base=base_url, api_key="x", messages=MESSAGES, response_format=form, num_retries=0
        )
        return json.loads(response.choices[0].message.content)

    return run


def instructor(base_url, _schema):
    """instructor wants the schema as a pydantic model, which it also checks with."""
    from typing import Annotated, Literal

    import instructor as peer
    import openai
    import pydantic

    class Triage(pydantic.BaseModel, extra="forbid"):
        severity: Literal["low", "medium", "high", "critical"]
        component: Annotated[str, pydantic.Field(min_length=1, max_length=40)]
        summary: Annotated[str, pydantic.Field(min_length=1, max_length=200)]
        needs_human: bool

    client = peer.from_openai(openai.AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0), mode=peer.Mode.JSON_SCHEMA)

    async def run():
        answer = await client.chat.completions.create(model="fake", response_model=Triage, messages=MESSAGES, max_retries=0)
        return answer.model_dump(mode="json")

    return run


async def perform(run, runs, in_flight, answer):
    """Does `runs` runs, `in_flight` at a time, and counts the right answers."""
    left, right = iter(range(runs)), 0

    async def work():
        nonlocal right
        for _ in left:
            try:
                returned = await run()
                right += returned == answer
            except Exception as error:
                print(f"{type(error).__name__}: {error}", file=sys.stderr)

    # Much is imported by the first run.
    await run()
    start = time.perf_counter_ns()
    await asyncio.gather(*(work() for _ in range(in_flight)))
    return {"ns": time.perf_counter_ns() - start, "right": right}


def main():
    peer, base_url, runs, in_flight, schema, answer = sys.argv[1:]
    with open(schema, encoding="utf-8") as file:
        run = {"litellm": litellm, "instructor": instructor}[peer](base_url, json.load(file))
    with open(answer, encoding="utf-8") as file:
        expected = json.load(file)
    print(json.dumps(asyncio.run(perform(run, int(runs), int(in_flight), expected))))


if __name__ == "__main__":
    main()
