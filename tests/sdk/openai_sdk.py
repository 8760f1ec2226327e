"""The official `openai` client, talking to the scripted server: Responses and Chat Completions."""

import json
import os

import openai
import pydantic

from conform import breaks, conform, equal, fails, run

PARAMETERS = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
FUNCTION = {"name": "read_file", "parameters": PARAMETERS, "strict": True}
client = openai.OpenAI(base_url=os.environ["FAKE_OPENAI"], api_key="key", max_retries=0)


class City(pydantic.BaseModel):
    city: str
    people: int


# Responses

RESPONSES_TOOL = {"type": "function", **FUNCTION}


def response(case, **more):
    """The response as streamed, which must be the same as the whole one but for ids."""
    asked = {"model": "gpt-fake", "input": f"case: {case}", **more}
    events = [conform(event) for event in client.responses.create(**asked, stream=True)]
    equal([event.sequence_number for event in events], list(range(len(events))))
    whole = conform(client.responses.create(**asked))
    seen = [events[-1].response]
    # The client's own assembly does not know answers that are incomplete.
    if whole.status == "completed":
        with client.responses.stream(**asked) as stream:
            seen.append(stream.until_done().get_final_response())
    for answer in seen:
        equal((answer.status, answer.usage), (whole.status, whole.usage))
        equal(answer.output_text, whole.output_text)
        equal([item.type for item in answer.output], [item.type for item in whole.output])
    return whole


def responses_text_and_usage():
    answer = response("text")
    equal(answer.output_text, "Grüße aus 東京 🦀, in several chunks.")
    equal((answer.status, answer.model), ("completed", "gpt-fake"))
    usage = answer.usage
    equal((usage.input_tokens, usage.output_tokens, usage.total_tokens), (160, 40, 200))
    equal(usage.input_tokens_details.cached_tokens, 60)
    equal(usage.output_tokens_details.reasoning_tokens, 12)


def responses_thinking():
    answer = response("thinking", reasoning={"summary": "auto"})
    equal([item.type for item in answer.output], ["reasoning", "message"])
    thought = answer.output[0]
    equal((thought.summary[0].text, thought.encrypted_content), ("They want a greeting.", "c2VhbA=="))


def responses_calls():
    answer = response("one call", tools=[RESPONSES_TOOL])
    equal([item.type for item in answer.output], ["message", "function_call"])
    call = answer.output[1]
    equal((call.call_id, call.name), ("id_one", "read_file"))
    equal(json.loads(call.arguments), {"path": "größe.txt", "lines": [1, 2]})
    answer = response("two calls", tools=[RESPONSES_TOOL])
    equal([call.call_id for call in answer.output], ["id_one", "id_two"])
    equal(response("no arguments", tools=[RESPONSES_TOOL]).output[0].arguments, "{}")


def responses_results_go_back():
    call = response("one call", tools=[RESPONSES_TOOL])
    result = {"type": "function_call_output", "call_id": "id_one", "output": "case: text"}
    said = [{"role": "user", "content": "Read it."}, *[item.to_dict() for item in call.output]]
    answer = client.responses.create(model="gpt-fake", input=[*said, result])
    equal(answer.output_text, "Grüße aus 東京 🦀, in several chunks.")
    ask = lambda: client.responses.create(model="gpt-fake", input=said)
    assert "No tool output found" in str(fails(openai.BadRequestError, ask))


def responses_stops():
    answer = response("refusal")
    equal(answer.output[0].content[0].refusal, "I cannot help with that.")
    answer = response("limit")
    equal((answer.status, answer.incomplete_details.reason), ("incomplete", "max_output_tokens"))


def responses_structured_output():
    answer = client.responses.parse(model="gpt-fake", input="case: structured", text_format=City)
    equal(answer.output_parsed, City(city="Paris", people=2100000))
    form = {"type": "json_schema", "name": "city", "schema": PARAMETERS, "strict": True}
    answer = response("structured", text={"format": form})
    equal(answer.text.format.name, "city")


def responses_errors():
    error = fails(openai.RateLimitError, lambda: response("rate limit"))
    equal((error.response.headers["retry-after"], error.code), ("1", "rate_limit_exceeded"))
    equal(fails(openai.AuthenticationError, lambda: response("bad key")).code, "invalid_api_key")
    events = client.responses.create(model="gpt-fake", input="case: breaks off", stream=True)
    last = [conform(event) for event in events][-1]
    equal((last.type, last.message), ("error", "Too busy"))
    breaks(lambda: response("cut"))


def responses_retries():
    answer = client.with_options(max_retries=1).responses.create(model="gpt-fake", input="case: retry")
    equal(answer.output_text, "Second try.")


# Chat Completions

CHAT_TOOL = {"type": "function", "function": FUNCTION}
# What servers that show thoughts add to OpenAI's format.
EXTRAS = ["reasoning_content"]


def asking(case, **more):
    return {"model": "gpt-fake", "messages": [{"role": "user", "content": f"case: {case}"}], **more}


def completion(case, **more):
    """The completion as streamed, which must be the same as the whole one."""
    usage = {"include_usage": True}
    chunks = client.chat.completions.create(**asking(case, **more), stream=True, stream_options=usage)
    chunks = [conform(chunk, EXTRAS) for chunk in chunks]
    whole = conform(client.chat.completions.create(**asking(case, **more)), EXTRAS)
    with client.chat.completions.stream(**asking(case, **more), stream_options=usage) as stream:
        try:
            seen = stream.until_done().get_final_completion()
        except openai.LengthFinishReasonError as limited:
            seen = limited.completion
    equal([chunk.usage for chunk in chunks], [None] * (len(chunks) - 1) + [whole.usage])
    equal(seen.usage, whole.usage)
    equal(seen.choices[0].finish_reason, whole.choices[0].finish_reason)
    equal(seen.choices[0].message.content, whole.choices[0].message.content)
    return whole


def chat_text_and_usage():
    answer = completion("text")
    equal(answer.choices[0].message.content, "Grüße aus 東京 🦀, in several chunks.")
    equal((answer.choices[0].finish_reason, answer.model), ("stop", "gpt-fake"))
    usage = answer.usage
    equal((usage.prompt_tokens, usage.completion_tokens, usage.total_tokens), (160, 40, 200))
    equal(usage.prompt_tokens_details.cached_tokens, 60)
    equal(usage.completion_tokens_details.reasoning_tokens, 12)


def chat_thinking():
    message = completion("thinking").choices[0].message
    equal((message.reasoning_content, message.content), ("They want a greeting.", "Hello."))


def chat_calls():
    answer = completion("one call", tools=[CHAT_TOOL]).choices[0]
    equal((answer.message.content, answer.finish_reason), ("Let me look.", "tool_calls"))
    call = answer.message.tool_calls[0]
    equal((call.id, call.function.name), ("id_one", "read_file"))
    equal(json.loads(call.function.arguments), {"path": "größe.txt", "lines": [1, 2]})
    calls = completion("two calls", tools=[CHAT_TOOL]).choices[0].message.tool_calls
    equal([call.id for call in calls], ["id_one", "id_two"])


def chat_results_go_back():
    call = completion("one call", tools=[CHAT_TOOL]).choices[0].message
    said = [{"role": "user", "content": "Read it."}, call]
    result = {"role": "tool", "tool_call_id": "id_one", "content": "case: text"}
    answer = client.chat.completions.create(model="gpt-fake", messages=[*said, result])
    equal(answer.choices[0].finish_reason, "stop")
    ask = lambda: client.chat.completions.create(model="gpt-fake", messages=said)
    assert "did not have response messages" in str(fails(openai.BadRequestError, ask))


def chat_stops():
    answer = completion("refusal").choices[0]
    equal((answer.message.refusal, answer.message.content), ("I cannot help with that.", None))
    equal(completion("limit").choices[0].finish_reason, "length")


def chat_structured_output():
    answer = client.chat.completions.parse(**asking("structured"), response_format=City)
    equal(answer.choices[0].message.parsed, City(city="Paris", people=2100000))


def chat_bytes_split_anywhere():
    equal(completion("split bytes").choices[0].message.content, "äöü 東京 🦀🦀🦀")


def chat_errors():
    error = fails(openai.RateLimitError, lambda: completion("rate limit"))
    equal((error.code, error.type), ("rate_limit_exceeded", "rate_limit_error"))
    equal(fails(openai.InternalServerError, lambda: completion("overloaded")).status_code, 529)
    equal(fails(openai.APIError, lambda: completion("breaks off")).message, "Too busy")
    breaks(lambda: completion("cut"))


def chat_retries():
    answer = client.with_options(max_retries=1).chat.completions.create(**asking("retry"))
    equal(answer.choices[0].message.content, "Second try.")


def models():
    equal([conform(model).id for model in client.models.list()], ["fake-model"])


run([
    responses_text_and_usage, responses_thinking, responses_calls, responses_results_go_back,
    responses_stops, responses_structured_output, responses_errors, responses_retries,
    chat_text_and_usage, chat_thinking, chat_calls, chat_results_go_back, chat_stops,
    chat_structured_output, chat_bytes_split_anywhere, chat_errors, chat_retries, models,
])
