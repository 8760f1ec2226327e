"""pydantic-ai, talking to `airtight serve` in all its formats: output by tools, native and prompted."""

from pydantic_ai import Agent, NativeOutput, PromptedOutput, ToolOutput
from pydantic_ai.exceptions import ModelHTTPError, UnexpectedModelBehavior
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from conform import equal, fails, grow
from stage import (
    ANTHROPIC, CITY, DOOMED, EMBEDDED, INPUT, MODEL, MOOD, NAMED, OPENAI, OTHER, OUTPUT, THE_CITY, THE_NAMED, THE_TRIP,
    TRIP, City, Mood, Named, Trip, both, is_mood,
)

OUTPUTS = (ToolOutput, NativeOutput, PromptedOutput)


def chat(model):
    return OpenAIChatModel(model, provider=OpenAIProvider(**OPENAI))


def responses(model):
    return OpenAIResponsesModel(model, provider=OpenAIProvider(**OPENAI))


def claude(model):
    # It knows by a model's name what it can do, and ours it does not know.
    able = {"supports_json_schema_output": True}
    return AnthropicModel(model, provider=AnthropicProvider(**ANTHROPIC), profile=able)


def ways():
    """Every format with every output that it has a contract for."""
    for model in (chat(MODEL), chat(OTHER), responses(MODEL)):
        yield from ((model, output) for output in OUTPUTS)
    yield from ((claude(MODEL), output) for output in (ToolOutput, NativeOutput))


def values_have_their_type_and_are_counted():
    for model, output in ways():
        answer = Agent(model, output_type=output(Trip)).run_sync(TRIP)
        equal((type(answer.output), answer.output), (Trip, THE_TRIP))
        usage = answer.usage
        equal((usage.requests, usage.input_tokens, usage.output_tokens), (1, INPUT, OUTPUT))


def it_asks_again_by_its_own_rules():
    for model, output in ways():
        answer = Agent(model, output_type=output(Named), retries=1).run_sync(NAMED)
        equal(answer.output, THE_NAMED)
        fails(UnexpectedModelBehavior, lambda: Agent(model, output_type=output(Named), retries=0).run_sync(NAMED))


def partial_values_only_grow():
    for model, output in ways():
        with Agent(model, output_type=output(Trip)).run_stream_sync(TRIP) as stream:
            partials = [it.model_dump() for it in stream.stream_output(debounce_by=None)]
        equal(partials[-1], THE_TRIP.model_dump())
        grow(partials[:-1], partials[-1])


def what_no_answer_satisfied_is_told():
    for model, output in ways():
        # Any object satisfies what is prompted for: the library judges it, and not the gateway.
        if output is PromptedOutput:
            continue
        error = fails(ModelHTTPError, lambda: Agent(model, output_type=output(City)).run_sync(DOOMED))
        equal(error.status_code, 422)
        told = error.body.get("error", error.body)
        equal((told["code"], told["violations"][0]["pointer"]), ("attempts_exhausted", "/people"))


def without_a_contract_nothing_is_asked():
    agent = Agent(claude(MODEL), output_type=PromptedOutput(City))
    equal(fails(ModelHTTPError, lambda: agent.run_sync(CITY)).body["error"]["code"], "contract_refused")


def embedded_values_have_their_type():
    for model in (chat(EMBEDDED), responses(EMBEDDED), claude(EMBEDDED)):
        for output in (ToolOutput, NativeOutput):
            is_mood(Agent(model, output_type=output(Mood)).run_sync(MOOD).output)
    agent = Agent(chat(EMBEDDED), output_type=Mood, model_settings={"max_tokens": 2})
    equal(fails(ModelHTTPError, lambda: agent.run_sync(MOOD)).body["code"], "truncated")


both(
    [
        values_have_their_type_and_are_counted, it_asks_again_by_its_own_rules, partial_values_only_grow,
        what_no_answer_satisfied_is_told, without_a_contract_nothing_is_asked,
    ],
    [embedded_values_have_their_type],
)
