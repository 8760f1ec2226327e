"""What is asked of `airtight serve` in these tests: where it is, the contracts, the questions, the answers.

`stage.mjs` is the same for Node, `script.json` has what the scripted model says.
"""

import itertools
import json
import os
import urllib.request
from typing import Literal

import pydantic

from conform import run

BASE, TOKEN = os.environ["GATEWAY"], os.environ["GATEWAY_TOKEN"]
OPENAI = {"base_url": f"{BASE}/v1", "api_key": TOKEN}
ANTHROPIC = {"base_url": BASE, "api_key": TOKEN}
# Whoever is set for the server: the scripted model, as Anthropic. It is asked in OpenAI's format by the other name.
MODEL, OTHER = "airtight", "openai:fake"
EMBEDDED = "embedded"


class City(pydantic.BaseModel):
    city: str
    people: int


class Stop(pydantic.BaseModel):
    city: str
    nights: int = pydantic.Field(ge=1)


class Trip(pydantic.BaseModel):
    title: str
    stops: list[Stop]
    by: Literal["rail", "road"]


# Demands what no schema says, so that the library itself asks again. (A docstring would be part of the schema.)
class Named(pydantic.BaseModel):
    city: str
    people: int

    @pydantic.field_validator("city")
    @classmethod
    def is_capital(cls, city):
        if not city[:1].isupper():
            raise ValueError("a name begins with a capital letter")
        return city


# Small enough for the embedded model to answer at once.
class Mood(pydantic.BaseModel):
    mood: Literal["good", "bad"]
    score: int = pydantic.Field(ge=0, le=5)


CITY, TRIP, DOOMED, NAMED = (f"gateway: {it}" for it in ("city", "trip", "doomed", "named"))
MOOD = "The sun is out, and everybody smiles. What is the mood?"
THE_CITY = City(city="Tōkyō", people=14)
THE_NAMED = Named(city="Tōkyō", people=14)
THE_TRIP = Trip(
    title='Zwei "Städte" – 東京 🦀',
    stops=[Stop(city="Tōkyō", nights=3), Stop(city="Kyōto\n", nights=2)],
    by="rail",
)
# Tokens of every scripted answer.
INPUT, OUTPUT = 100, 40


def saying(text):
    return [{"role": "user", "content": text}]


NUMBERS = itertools.count()


def post(path, body=None):
    """Tells the scripted model something."""
    data = json.dumps(body).encode() if body else b""
    request = urllib.request.Request(os.environ["FAKE_ANTHROPIC"] + path, data, {"content-type": "application/json"})
    urllib.request.urlopen(request).close()


def halting(partials_of):
    """Returns what a client sees of a trip while it grows, the whole of it included.

    The model goes on only once a beginning was seen: a client that is shown nothing before the end waits for ever.
    """
    name = f"halting-{os.getpid()}-{next(NUMBERS)}."
    pieces = [{"type": "text", "text": THE_TRIP.model_dump_json()}]
    turn = {"when": {"contains": [name]}, "reply": {"type": "say", "pieces": pieces}, "chunk_chars": 5}
    post("/fake/turns", {**turn, "points": [{"after": 12, "act": {"type": "gate", "name": name}}]})
    seen = []
    for partial in partials_of(f"gateway: {name}"):
        post(f"/fake/gates/{name}")
        seen.append(partial)
    return seen


def is_mood(value):
    """Holds an answer of the embedded model to its type; which one it is, is the model's affair."""
    assert isinstance(value, Mood), type(value)
    assert value.mood in ("good", "bad") and 0 <= value.score <= 5, value


def both(scripted, embedded):
    """Runs the cases; those of the embedded model where its weights are, and else says so aloud."""
    run(scripted)
    if os.environ.get("GATEWAY_EMBEDDED"):
        run(embedded)
    else:
        print(f"  NOT RUN, without weights: {', '.join(case.__name__ for case in embedded)}")
