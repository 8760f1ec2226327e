"""LangChain's models of OpenAI and Anthropic, talking to `airtight serve`."""

import anthropic
import openai
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from conform import equal, fails, grow
from stage import (
    ANTHROPIC, CITY, DOOMED, EMBEDDED, INPUT, MODEL, MOOD, OPENAI, OTHER, OUTPUT, THE_CITY, THE_TRIP, TRIP, City, Mood,
    Trip, both, halting, is_mood,
)

METHODS = ("json_schema", "function_calling")


def chat(model, **more):
    return ChatOpenAI(model=model, **OPENAI, max_retries=0, **more)


def claude(model, **more):
    return ChatAnthropic(model=model, **ANTHROPIC, max_retries=0, **more)


def models():
    yield chat(MODEL)
    yield chat(OTHER)
    yield chat(MODEL, use_responses_api=True)
    yield claude(MODEL)


def values_have_their_type_and_are_counted():
    for model in models():
        for method in METHODS:
            answer = model.with_structured_output(Trip, method=method, include_raw=True).invoke(TRIP)
            equal(answer["parsing_error"], None)
            equal((type(answer["parsed"]), answer["parsed"]), (Trip, THE_TRIP))
            usage = answer["raw"].usage_metadata
            equal((usage["input_tokens"], usage["output_tokens"]), (INPUT, OUTPUT))


def any_object_can_be_asked_for():
    model = chat(MODEL).with_structured_output(City, method="json_mode")
    equal(model.invoke(f"{CITY} (as JSON)"), THE_CITY)


def partial_values_only_grow():
    schema = {**Trip.model_json_schema(), "additionalProperties": False}
    for model in (chat(MODEL), claude(MODEL)):
        for method in METHODS:
            *partials, last = halting(model.with_structured_output(schema, method=method).stream)
            equal(last, THE_TRIP.model_dump())
            grow(partials, last)


def what_no_answer_satisfied_is_told():
    refusals = {ChatOpenAI: openai.UnprocessableEntityError, ChatAnthropic: anthropic.UnprocessableEntityError}
    for model in models():
        for method in METHODS:
            structured = model.with_structured_output(City, method=method)
            error = fails(refusals[type(model)], lambda: structured.invoke(DOOMED))
            told = error.body.get("error", error.body)
            equal((told["code"], told["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))


def a_stream_that_is_doomed_breaks():
    schema = {**City.model_json_schema(), "additionalProperties": False}
    error = fails(openai.APIError, lambda: list(chat(MODEL).with_structured_output(schema).stream(DOOMED)))
    equal((error.code, error.body["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))


def embedded_values_have_their_type():
    for model in (chat(EMBEDDED), claude(EMBEDDED)):
        for method in METHODS:
            is_mood(model.with_structured_output(Mood, method=method).invoke(MOOD))
    structured = chat(EMBEDDED, max_tokens=2).with_structured_output(Mood, method="function_calling")
    equal(fails(openai.UnprocessableEntityError, lambda: structured.invoke(MOOD)).code, "truncated")


both(
    [
        values_have_their_type_and_are_counted, any_object_can_be_asked_for, partial_values_only_grow,
        what_no_answer_satisfied_is_told, a_stream_that_is_doomed_breaks,
    ],
    [embedded_values_have_their_type],
)
