"""The official clients, talking to `airtight serve`, which has the scripted server behind it."""

import json
import os

import anthropic
import openai
import pydantic

from conform import conform, equal, fails, run

BASE, TOKEN = os.environ["GATEWAY"], os.environ["GATEWAY_TOKEN"]
chat = openai.OpenAI(base_url=f"{BASE}/v1", api_key=TOKEN, max_retries=0)
claude = anthropic.Anthropic(base_url=BASE, api_key=TOKEN, max_retries=0)


class City(pydantic.BaseModel):
    city: str
    people: int


SCHEMA = {**City.model_json_schema(), "additionalProperties": False}
ANSWER = City(city="Tōkyō", people=14)
ASK = [{"role": "user", "content": "gateway: city"}]
DOOMED = [{"role": "user", "content": "gateway: doomed"}]
FORMAT = {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": SCHEMA}}
MODEL = "airtight"


def chat_parses():
    answer = chat.chat.completions.parse(model=MODEL, messages=ASK, response_format=City)
    equal(answer.choices[0].message.parsed, ANSWER)


def chat_conforms_and_streams_the_same():
    whole = conform(chat.chat.completions.create(model=MODEL, messages=ASK, response_format=FORMAT))
    asked = {"model": MODEL, "messages": ASK, "response_format": FORMAT, "stream": True}
    chunks = [conform(it) for it in chat.chat.completions.create(**asked)]
    text = "".join(it.choices[0].delta.content or "" for it in chunks)
    equal(text, whole.choices[0].message.content)
    with chat.chat.completions.stream(model=MODEL, messages=ASK, response_format=City) as stream:
        equal(stream.until_done().get_final_completion().choices[0].message.parsed, ANSWER)


def chat_calls_a_forced_tool():
    tool = openai.pydantic_function_tool(City)
    choice = {"type": "function", "function": {"name": "City"}}
    asked = {"model": MODEL, "messages": ASK, "tools": [tool], "tool_choice": choice}
    answer = conform(chat.chat.completions.create(**asked))
    call = answer.choices[0].message.tool_calls[0]
    equal((call.function.name, json.loads(call.function.arguments)), ("City", ANSWER.model_dump()))
    chunks = [conform(it) for it in chat.chat.completions.create(**asked, stream=True)]
    deltas = [it.choices[0].delta.tool_calls for it in chunks]
    equal("".join(it[0].function.arguments for it in deltas if it), call.function.arguments)


def chat_fails_with_violations():
    asked = {"model": MODEL, "messages": DOOMED, "response_format": FORMAT}
    error = fails(openai.UnprocessableEntityError, lambda: chat.chat.completions.create(**asked))
    equal((error.code, error.body["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))
    stream = chat.chat.completions.create(**asked, stream=True)
    fails(openai.APIError, lambda: list(stream))


def responses_parse_and_stream_the_same():
    whole = chat.responses.parse(model=MODEL, input="gateway: city", text_format=City)
    equal(whole.output_parsed, ANSWER)
    with chat.responses.stream(model=MODEL, input="gateway: city", text_format=City) as stream:
        equal(stream.until_done().get_final_response().output_parsed, ANSWER)


def responses_conform():
    text = {"format": {"type": "json_schema", "name": "city", "schema": SCHEMA}}
    asked = {"model": MODEL, "input": "gateway: city", "text": text}
    whole = conform(chat.responses.create(**asked))
    events = [conform(it) for it in chat.responses.create(**asked, stream=True)]
    equal(events[-1].response.output_text, whole.output_text)
    asked["input"] = "gateway: doomed"
    stream = chat.responses.create(**asked, stream=True)
    fails(openai.APIError, lambda: list(stream))


def messages_conform_and_stream_the_same():
    config = {"format": {"type": "json_schema", "schema": SCHEMA}}
    asked = {"model": MODEL, "messages": ASK, "max_tokens": 500, "output_config": config}
    whole = conform(claude.messages.create(**asked))
    equal(City.model_validate_json(whole.content[0].text), ANSWER)
    with claude.messages.stream(**asked) as stream:
        equal(stream.get_final_text(), whole.content[0].text)
    asked["messages"] = DOOMED
    error = fails(anthropic.UnprocessableEntityError, lambda: claude.messages.create(**asked))
    equal(error.body["error"]["code"], "attempts_exhausted")


def messages_parse():
    answer = claude.messages.parse(model=MODEL, messages=ASK, max_tokens=500, output_format=City)
    equal(answer.parsed_output, ANSWER)


def messages_call_a_forced_tool():
    asked = {"model": MODEL, "messages": ASK, "max_tokens": 500}
    asked["tools"] = [{"name": "City", "input_schema": SCHEMA}]
    asked["tool_choice"] = {"type": "tool", "name": "City"}
    answer = conform(claude.messages.create(**asked))
    equal(answer.content[0].input, ANSWER.model_dump())
    with claude.messages.stream(**asked) as stream:
        equal(stream.get_final_message().content[0].input, ANSWER.model_dump())


def models_are_listed():
    assert MODEL in [conform(it).id for it in chat.models.list()]
    assert MODEL in [conform(it).id for it in claude.models.list()]


def keys_are_checked():
    wrong = openai.OpenAI(base_url=f"{BASE}/v1", api_key="wrong", max_retries=0)
    asked = {"model": MODEL, "messages": ASK, "response_format": FORMAT}
    fails(openai.AuthenticationError, lambda: wrong.chat.completions.create(**asked))


run(
    [
        chat_parses,
        chat_conforms_and_streams_the_same,
        chat_calls_a_forced_tool,
        chat_fails_with_violations,
        responses_parse_and_stream_the_same,
        responses_conform,
        messages_conform_and_stream_the_same,
        messages_parse,
        messages_call_a_forced_tool,
        models_are_listed,
        keys_are_checked,
    ]
)
