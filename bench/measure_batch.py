"""Has a Python peer answer many inputs and write each answer to SQLite, for bench/batch.py.

Usage: measure_batch.py PEER BASE_URL INPUTS IN_FLIGHT DATABASE
Prints {"right": how many answers were checked and stored}; failures go to stderr.
"""

import asyncio
import json
import sqlite3
import sys
from typing import Annotated, Literal

import openai
import pydantic


class Triage(pydantic.BaseModel, extra="forbid"):
    severity: Literal["low", "medium", "high", "critical"]
    component: Annotated[str, pydantic.Field(min_length=1, max_length=40)]
    summary: Annotated[str, pydantic.Field(min_length=1, max_length=200)]
    needs_human: bool


def plain(base_url):
    """AsyncOpenAI with the schema as response format, checked with pydantic."""
    client = openai.AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0)
    form = {"type": "json_schema", "json_schema": {"name": "triage", "schema": Triage.model_json_schema(), "strict": True}}

    async def ask(prompt):
        messages = [{"role": "user", "content": prompt}]
        response = await client.chat.completions.create(model="fake", messages=messages, response_format=form)
        return Triage.model_validate_json(response.choices[0].message.content)

    return ask


def instructor(base_url):
    import instructor as peer

    client = peer.from_openai(openai.AsyncOpenAI(base_url=base_url, api_key="x", max_retries=0), mode=peer.Mode.JSON_SCHEMA)

    async def ask(prompt):
        messages = [{"role": "user", "content": prompt}]
        return await client.chat.completions.create(model="fake", response_model=Triage, messages=messages, max_retries=0)

    return ask


def open_database(path):
    """As durable as the ledger: every commit is on disk."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE answers (id INTEGER PRIMARY KEY, answer TEXT)")
    return database


async def perform(ask, path, in_flight, database):
    right = 0
    with open(path, encoding="utf-8") as lines:

        async def work():
            nonlocal right
            for line in lines:
                entry = json.loads(line)
                try:
                    answer = await ask(f"Sort this report: {entry['text']}")
                except Exception as error:
                    print(f"{type(error).__name__}: {error}", file=sys.stderr)
                    continue
                database.execute("INSERT INTO answers VALUES (?, ?)", (entry["id"], answer.model_dump_json()))
                database.commit()
                right += 1

        await asyncio.gather(*(work() for _ in range(in_flight)))
    return {"right": right}


def main():
    peer, base_url, inputs, in_flight, database = sys.argv[1:]
    ask = {"openai": plain, "instructor": instructor}[peer](base_url)
    print(json.dumps(asyncio.run(perform(ask, inputs, int(in_flight), open_database(database)))))


if __name__ == "__main__":
    main()
