"""Instructor, talking to `airtight serve` by the clients of OpenAI and of Anthropic."""

import logging

import anthropic
import instructor
import openai
from instructor.core import InstructorRetryException

from conform import equal, fails, grow
from stage import (
    ANTHROPIC, CITY, DOOMED, EMBEDDED, INPUT, MODEL, MOOD, NAMED, OPENAI, OTHER, OUTPUT, THE_CITY, THE_NAMED, THE_TRIP,
    TRIP, City, Mood, Named, Trip, both, is_mood, saying,
)

# It logs every failure, and failures are asked for here.
logging.getLogger("instructor").setLevel(logging.CRITICAL)
Mode = instructor.Mode
chat = openai.OpenAI(**OPENAI, max_retries=0)
claude = anthropic.Anthropic(**ANTHROPIC, max_retries=0)
OPENAI_MODES = (Mode.TOOLS, Mode.TOOLS_STRICT, Mode.JSON_SCHEMA, Mode.JSON, Mode.RESPONSES_TOOLS)


def clients(modes=OPENAI_MODES):
    """Every way that Instructor has of asking for a value."""
    for mode in modes:
        yield instructor.from_openai(chat, mode=mode), {"model": MODEL}
    yield instructor.from_openai(chat, mode=Mode.TOOLS), {"model": OTHER}
    yield instructor.from_anthropic(claude, mode=Mode.ANTHROPIC_TOOLS), {"model": MODEL, "max_tokens": 500}


def tokens(usage):
    """What was used, in the words of either vendor."""
    sides = [("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")]
    return tuple(getattr(usage, chat_word, None) or getattr(usage, word) for chat_word, word in sides)


def is_a(kind, value, expected):
    """Holds a value to its type, of which the library makes a class of its own, that only it is equal to."""
    assert isinstance(value, kind), type(value)
    equal(value.model_dump(), expected.model_dump())


def values_have_their_type_and_are_counted():
    for client, asked in clients():
        create = client.chat.completions.create_with_completion
        trip, completion = create(**asked, messages=saying(TRIP), response_model=Trip)
        is_a(Trip, trip, THE_TRIP)
        equal(tokens(completion.usage), (INPUT, OUTPUT))


def it_asks_again_by_its_own_rules():
    for client, asked in clients():
        create = client.chat.completions.create_with_completion
        named, completion = create(**asked, messages=saying(NAMED), response_model=Named, max_retries=2)
        is_a(Named, named, THE_NAMED)
        # It adds up what all its questions used, but for Responses, where it tells of the last.
        used = tokens(completion.usage)
        assert used in [(INPUT, OUTPUT), (2 * INPUT, 2 * OUTPUT)], used


def lists_have_one_call():
    # It makes a contract of its own for lists: an object with a member `tasks`.
    client = instructor.from_openai(chat, mode=Mode.TOOLS)
    cities = client.chat.completions.create(model=MODEL, messages=saying("gateway: list"), response_model=list[City])
    equal([city.model_dump() for city in cities], [THE_CITY.model_dump(), {"city": "Ōsaka", "people": 3}])


def partial_values_only_grow():
    for client, asked in clients((Mode.TOOLS, Mode.JSON_SCHEMA)):
        # It reads streams to their end before it shows anything of them.
        stream = client.chat.completions.create_partial(**asked, messages=saying(TRIP), response_model=Trip)
        *partials, last = [it.model_dump() for it in stream]
        equal(last, THE_TRIP.model_dump())
        grow(partials, last)


def what_no_answer_satisfied_is_told_once():
    for client, asked in clients((Mode.TOOLS, Mode.JSON_SCHEMA, Mode.RESPONSES_TOOLS)):
        create = client.chat.completions.create
        act = lambda: create(**asked, messages=saying(DOOMED), response_model=City, max_retries=3)
        error = fails(InstructorRetryException, act)
        # The gateway has asked the model as often as it may; asking it again would be paid for.
        equal(error.n_attempts, 1)
        cause = error.__cause__
        equal(cause.status_code, 422)
        told = cause.body.get("error", cause.body)
        equal((told["code"], told["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))


def without_a_contract_nothing_is_asked():
    client = instructor.from_openai(chat, mode=Mode.MD_JSON)
    act = lambda: client.chat.completions.create(model=MODEL, messages=saying(CITY), response_model=City)
    equal(fails(InstructorRetryException, act).__cause__.code, "contract_refused")


def embedded_values_have_their_type():
    for mode in (Mode.TOOLS, Mode.JSON_SCHEMA):
        client = instructor.from_openai(chat, mode=mode)
        is_mood(client.chat.completions.create(model=EMBEDDED, messages=saying(MOOD), response_model=Mood))
    client = instructor.from_anthropic(claude)
    asked = {"model": EMBEDDED, "messages": saying(MOOD), "response_model": Mood}
    is_mood(client.chat.completions.create(**asked, max_tokens=100))
    error = fails(InstructorRetryException, lambda: client.chat.completions.create(**asked, max_tokens=2))
    equal(error.__cause__.body["error"]["code"], "truncated")


both(
    [
        values_have_their_type_and_are_counted, it_asks_again_by_its_own_rules, lists_have_one_call,
        partial_values_only_grow, what_no_answer_satisfied_is_told_once, without_a_contract_nothing_is_asked,
    ],
    [embedded_values_have_their_type],
)
