"""The official Python clients, talking to `airtight serve`."""

import json

import anthropic
import openai

from conform import conform, equal, fails, grow
from stage import (
    ANTHROPIC, CITY, DOOMED, EMBEDDED, INPUT, MODEL, MOOD, OPENAI, OTHER, OUTPUT, THE_CITY, THE_TRIP, TRIP,
    City, Mood, Trip, both, halting, is_mood, saying,
)

chat = openai.OpenAI(**OPENAI, max_retries=0)
claude = anthropic.Anthropic(**ANTHROPIC, max_retries=0)
SCHEMA = {**City.model_json_schema(), "additionalProperties": False}
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": SCHEMA}}
COUNTED = {"include_usage": True}


def chat_parses():
    for model in (MODEL, OTHER):
        answer = chat.chat.completions.parse(model=model, messages=saying(TRIP), response_format=Trip)
        equal(answer.choices[0].message.parsed, THE_TRIP)
        usage = answer.usage
        equal((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (INPUT, OUTPUT, INPUT + OUTPUT))


def chat_conforms_and_streams_the_same():
    asked = {"model": MODEL, "messages": saying(CITY), "response_format": FORMAT}
    whole = conform(chat.chat.completions.create(**asked))
    chunks = chat.chat.completions.create(**asked, stream=True, stream_options=COUNTED)
    *chunks, last = [conform(it) for it in chunks]
    text = "".join(it.choices[0].delta.content or "" for it in chunks)
    equal(text, whole.choices[0].message.content)
    equal(last.usage, whole.usage)


def chat_streams_what_only_grows():
    def partials(prompt):
        with chat.chat.completions.stream(model=MODEL, messages=saying(prompt), response_format=Trip) as stream:
            for event in stream:
                if event.type == "content.delta" and event.parsed is not None:
                    yield event.parsed
            yield stream.get_final_completion().choices[0].message.parsed.model_dump()

    *before, last = halting(partials)
    equal(last, THE_TRIP.model_dump())
    grow(before, last)


def chat_calls_a_forced_tool():
    tool = openai.pydantic_function_tool(City)
    choice = {"type": "function", "function": {"name": "City"}}
    asked = {"model": MODEL, "messages": saying(CITY), "tools": [tool], "tool_choice": choice}
    answer = conform(chat.chat.completions.create(**asked))
    call = answer.choices[0].message.tool_calls[0]
    equal((call.function.name, json.loads(call.function.arguments)), ("City", THE_CITY.model_dump()))
    chunks = [conform(it) for it in chat.chat.completions.create(**asked, stream=True)]
    deltas = [it.choices[0].delta.tool_calls for it in chunks]
    equal("".join(it[0].function.arguments for it in deltas if it), call.function.arguments)


def chat_fails_with_violations():
    asked = {"model": MODEL, "messages": saying(DOOMED), "response_format": FORMAT}
    error = fails(openai.UnprocessableEntityError, lambda: chat.chat.completions.create(**asked))
    equal((error.code, error.body["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))
    stream = chat.chat.completions.create(**asked, stream=True)
    error = fails(openai.APIError, lambda: list(stream))
    equal((error.code, error.body["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))


def responses_parse_and_stream_the_same():
    whole = chat.responses.parse(model=MODEL, input=TRIP, text_format=Trip)
    equal(whole.output_parsed, THE_TRIP)
    equal((whole.usage.input_tokens, whole.usage.output_tokens), (INPUT, OUTPUT))
    with chat.responses.stream(model=MODEL, input=TRIP, text_format=Trip) as stream:
        final = stream.until_done().get_final_response()
    equal((final.output_parsed, final.usage), (THE_TRIP, whole.usage))


def responses_conform():
    text = {"format": {"type": "json_schema", "name": "city", "schema": SCHEMA}}
    asked = {"model": MODEL, "input": CITY, "text": text}
    whole = conform(chat.responses.create(**asked))
    events = [conform(it) for it in chat.responses.create(**asked, stream=True)]
    equal(events[-1].response.output_text, whole.output_text)


def responses_fail_with_violations():
    text = {"format": {"type": "json_schema", "name": "city", "schema": SCHEMA}}
    asked = {"model": MODEL, "input": DOOMED, "text": text}
    error = fails(openai.UnprocessableEntityError, lambda: chat.responses.create(**asked))
    equal((error.code, error.body["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))
    stream = chat.responses.create(**asked, stream=True)
    error = fails(openai.APIError, lambda: list(stream))
    equal((error.code, error.body["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))


def messages_conform_and_stream_the_same():
    config = {"format": {"type": "json_schema", "schema": SCHEMA}}
    asked = {"model": MODEL, "messages": saying(CITY), "max_tokens": 500, "output_config": config}
    whole = conform(claude.messages.create(**asked))
    equal(City.model_validate_json(whole.content[0].text), THE_CITY)
    equal((whole.usage.input_tokens, whole.usage.output_tokens), (INPUT, OUTPUT))
    with claude.messages.stream(**asked) as stream:
        final = stream.get_final_message()
    equal((final.content[0].text, final.usage), (whole.content[0].text, whole.usage))


def messages_stream_what_only_grows():
    def texts(prompt):
        asked = {"model": MODEL, "messages": saying(prompt), "max_tokens": 500, "output_format": Trip}
        with claude.messages.stream(**asked) as stream:
            text = ""
            for more in stream.text_stream:
                text += more
                yield text
            yield stream.get_final_text()

    *before, last = halting(texts)
    equal(Trip.model_validate_json(last), THE_TRIP)
    grow(before, last)


def messages_fail_with_violations():
    config = {"format": {"type": "json_schema", "schema": SCHEMA}}
    asked = {"model": MODEL, "messages": saying(DOOMED), "max_tokens": 500, "output_config": config}
    error = fails(anthropic.UnprocessableEntityError, lambda: claude.messages.create(**asked))
    told = error.body["error"]
    equal((told["code"], told["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))
    error = fails(anthropic.APIStatusError, lambda: list(claude.messages.create(**asked, stream=True)))
    equal(error.body["error"]["violations"], told["violations"])


def messages_parse():
    asked = {"model": MODEL, "messages": saying(TRIP), "max_tokens": 500}
    answer = claude.messages.parse(**asked, output_format=Trip)
    equal(answer.parsed_output, THE_TRIP)


def messages_call_a_forced_tool():
    asked = {"model": MODEL, "messages": saying(CITY), "max_tokens": 500}
    asked["tools"] = [{"name": "City", "input_schema": SCHEMA}]
    asked["tool_choice"] = {"type": "tool", "name": "City"}
    answer = conform(claude.messages.create(**asked))
    equal(answer.content[0].input, THE_CITY.model_dump())
    with claude.messages.stream(**asked) as stream:
        equal(stream.get_final_message().content[0].input, THE_CITY.model_dump())


def models_are_listed():
    assert MODEL in [conform(it).id for it in chat.models.list()]
    assert MODEL in [conform(it).id for it in claude.models.list()]


def keys_are_checked():
    wrong = openai.OpenAI(**{**OPENAI, "api_key": "wrong"}, max_retries=0)
    asked = {"model": MODEL, "messages": saying(CITY), "response_format": FORMAT}
    fails(openai.AuthenticationError, lambda: wrong.chat.completions.create(**asked))


def embedded_chat_parses_and_counts():
    asked = {"model": EMBEDDED, "messages": saying(MOOD), "response_format": Mood}
    answer = chat.chat.completions.parse(**asked)
    is_mood(answer.choices[0].message.parsed)
    assert answer.usage.prompt_tokens > 0 and answer.usage.completion_tokens > 0, answer.usage


def embedded_responses_stream():
    with chat.responses.stream(model=EMBEDDED, input=MOOD, text_format=Mood) as stream:
        is_mood(stream.until_done().get_final_response().output_parsed)


def embedded_messages_parse_and_have_a_limit():
    asked = {"model": EMBEDDED, "messages": saying(MOOD), "output_format": Mood}
    answer = claude.messages.parse(**asked, max_tokens=100)
    is_mood(answer.parsed_output)
    error = fails(anthropic.UnprocessableEntityError, lambda: claude.messages.parse(**asked, max_tokens=2))
    equal(error.body["error"]["code"], "truncated")


both(
    [
        chat_parses, chat_conforms_and_streams_the_same, chat_streams_what_only_grows, chat_calls_a_forced_tool,
        chat_fails_with_violations, responses_parse_and_stream_the_same, responses_conform,
        responses_fail_with_violations, messages_conform_and_stream_the_same, messages_stream_what_only_grows, messages_fail_with_violations,
        messages_parse, messages_call_a_forced_tool, models_are_listed, keys_are_checked,
    ],
    [embedded_chat_parses_and_counts, embedded_responses_stream, embedded_messages_parse_and_have_a_limit],
)
