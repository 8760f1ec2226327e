"""The official `anthropic` client, talking to the scripted server."""

import os

import anthropic
import pydantic

from conform import breaks, conform, equal, fails, run

TOOL = {"name": "read_file", "input_schema": {"type": "object", "properties": {}}}
client = anthropic.Anthropic(base_url=os.environ["FAKE_ANTHROPIC"], api_key="key", max_retries=0)


def asking(case, **more):
    messages = [{"role": "user", "content": f"case: {case}"}]
    return {"model": "claude-fake", "max_tokens": 1000, "messages": messages, **more}


def streamed(case, **more):
    """The message as the client puts it together; every event is held to its type."""
    for event in client.messages.create(**asking(case, **more), stream=True):
        conform(event)
    with client.messages.stream(**asking(case, **more)) as stream:
        return conform(stream.get_final_message())


def both(case, **more):
    """The same answer, streamed and whole; ids differ from answer to answer."""
    answers = [streamed(case, **more), conform(client.messages.create(**asking(case, **more)))]
    seen = [[block.to_dict() for block in answer.content] for answer in answers]
    equal(seen[0], seen[1])
    equal(answers[0].stop_reason, answers[1].stop_reason)
    equal(answers[0].usage, answers[1].usage)
    return answers[0]


def text_and_usage():
    answer = both("text")
    equal(answer.content[0].text, "Grüße aus 東京 🦀, in several chunks.")
    equal((answer.role, answer.model, answer.stop_reason), ("assistant", "claude-fake", "end_turn"))
    usage = answer.usage
    equal((usage.input_tokens, usage.output_tokens), (100, 40))
    equal((usage.cache_read_input_tokens, usage.cache_creation_input_tokens), (60, 0))
    equal(usage.output_tokens_details.thinking_tokens, 12)


def thinking_with_its_signature():
    answer = both("thinking", thinking={"type": "enabled", "budget_tokens": 1024})
    equal([block.type for block in answer.content], ["thinking", "text"])
    thought = answer.content[0]
    equal((thought.thinking, thought.signature), ("They want a greeting.", "c2VhbA=="))


def calls():
    answer = both("one call", tools=[TOOL])
    equal([block.type for block in answer.content], ["text", "tool_use"])
    call = answer.content[1]
    equal((call.id, call.name), ("id_one", "read_file"))
    equal(call.input, {"path": "größe.txt", "lines": [1, 2]})
    equal(answer.stop_reason, "tool_use")
    answer = both("two calls", tools=[TOOL])
    equal([(c.id, c.input["path"]) for c in answer.content], [("id_one", "a"), ("id_two", "b")])
    equal(both("no arguments", tools=[TOOL]).content[0].input, {})


def results_go_back():
    call = streamed("one call", tools=[TOOL])
    result = {"type": "tool_result", "tool_use_id": call.content[1].id, "content": "case: text"}
    messages = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": call.content},
        {"role": "user", "content": [result]},
    ]
    answer = client.messages.create(**{**asking("", tools=[TOOL]), "messages": messages})
    equal(answer.stop_reason, "end_turn")
    wrong = {**asking("", tools=[TOOL]), "messages": messages[:2] + messages[:1]}
    error = fails(anthropic.BadRequestError, lambda: client.messages.create(**wrong))
    assert "without `tool_result` blocks" in str(error), error


def stops():
    equal(both("refusal").stop_reason, "refusal")
    answer = both("limit")
    equal((answer.stop_reason, answer.content[0].text), ("max_tokens", '{"half": '))


def structured_output():
    class City(pydantic.BaseModel):
        city: str
        people: int

    answer = client.messages.parse(**asking("structured"), output_format=City)
    equal(answer.parsed_output, City(city="Paris", people=2100000))
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    both("structured", output_config={"format": {"type": "json_schema", "schema": schema}})


def bytes_split_anywhere():
    equal(both("split bytes").content[0].text, "äöü 東京 🦀🦀🦀")


def errors():
    error = fails(anthropic.RateLimitError, lambda: streamed("rate limit"))
    equal((error.status_code, error.response.headers["retry-after"]), (429, "1"))
    equal((error.body["error"]["type"], error.body["error"]["message"]), ("rate_limit_error", "Slow down"))
    error = fails(anthropic.AuthenticationError, lambda: streamed("bad key"))
    equal(error.body["error"]["type"], "authentication_error")
    error = fails(anthropic.APIStatusError, lambda: streamed("overloaded"))
    equal((error.status_code, error.body["error"]["type"]), (529, "overloaded_error"))
    error = fails(anthropic.APIStatusError, lambda: streamed("breaks off"))
    equal(error.body["error"], {"type": "overloaded_error", "message": "Too busy"})
    breaks(lambda: streamed("cut"))


def retries():
    answer = client.with_options(max_retries=1).messages.create(**asking("retry"))
    equal(answer.content[0].text, "Second try.")


def beside_the_model():
    count = client.messages.count_tokens(model="claude-fake", messages=asking("text")["messages"])
    equal(conform(count).input_tokens, 10)
    equal([model.id for model in client.models.list()], ["fake-model"])


run([
    text_and_usage, thinking_with_its_signature, calls, results_go_back, stops, structured_output,
    bytes_split_anywhere, errors, retries, beside_the_model,
])
