// The official `openai` client for Node, talking to `airtight serve`.

import assert from "node:assert/strict";
import OpenAI, { APIError, UnprocessableEntityError } from "openai";
import { zodFunction, zodResponseFormat, zodTextFormat } from "openai/helpers/zod";
import {
  City, Mood, Trip, ask, embedded, fails, grows, halting, input, isMood, isRefusal, model, openaiAccess, other, output, run,
  saying, theCity, theTrip,
} from "./stage.mjs";

const client = new OpenAI({ ...openaiAccess, maxRetries: 0 });
const chat = client.chat.completions;
const trip = { messages: saying(ask.trip), response_format: zodResponseFormat(Trip, "trip") };
const doomed = { model, messages: saying(ask.doomed), response_format: zodResponseFormat(City, "city") };

const scripted = {
  async chat_parses() {
    for (const name of [model, other]) {
      const answer = await chat.parse({ model: name, ...trip });
      assert.deepEqual(answer.choices[0].message.parsed, theTrip);
      const { prompt_tokens, completion_tokens, total_tokens } = answer.usage;
      assert.deepEqual([prompt_tokens, completion_tokens, total_tokens], [input, output, input + output]);
    }
  },

  async chat_streams_what_only_grows() {
    const partials = await halting(async (prompt, see) => {
      const stream = chat.stream({ model, ...trip, messages: saying(prompt) });
      stream.on("content.delta", ({ parsed }) => see(parsed));
      assert.deepEqual((await stream.finalChatCompletion()).choices[0].message.parsed, theTrip);
    });
    grows(partials, theTrip);
  },

  async streams_are_counted() {
    const stream = chat.stream({ model, ...trip, stream_options: { include_usage: true } });
    assert.equal((await stream.totalUsage()).completion_tokens, output);
  },

  async chat_calls_a_forced_tool() {
    const tools = [zodFunction({ name: "City", parameters: City })];
    const tool_choice = { type: "function", function: { name: "City" } };
    const asked = { model, messages: saying(ask.city), tools, tool_choice };
    const { message, finish_reason } = (await chat.parse(asked)).choices[0];
    assert.deepEqual([finish_reason, message.tool_calls[0].function.parsed_arguments], ["tool_calls", theCity]);
    const streamed = await chat.stream(asked).finalChatCompletion();
    assert.deepEqual(streamed.choices[0].message.tool_calls[0].function.parsed_arguments, theCity);
  },

  async chat_fails_with_violations() {
    isRefusal((await fails(UnprocessableEntityError, () => chat.parse(doomed))).error);
    isRefusal((await fails(APIError, () => chat.stream(doomed).finalChatCompletion())).error);
  },

  async responses_parse_and_stream() {
    const asked = { model, input: ask.trip, text: { format: zodTextFormat(Trip, "trip") } };
    const answer = await client.responses.parse(asked);
    assert.deepEqual(answer.output_parsed, theTrip);
    assert.deepEqual([answer.usage.input_tokens, answer.usage.output_tokens], [input, output]);
    const final = await client.responses.stream(asked).finalResponse();
    assert.deepEqual([final.output_parsed, final.usage], [theTrip, answer.usage]);
  },

  async responses_stream_what_only_grows() {
    const texts = await halting(async (prompt, see) => {
      const asked = { model, input: prompt, text: { format: zodTextFormat(Trip, "trip") } };
      const stream = client.responses.stream(asked).on("response.output_text.delta", (it) => see(it.snapshot));
      assert.deepEqual((await stream.finalResponse()).output_parsed, theTrip);
    });
    grows(texts, JSON.stringify(theTrip));
  },

  async responses_fail_with_violations() {
    const asked = { model, input: ask.doomed, text: { format: zodTextFormat(City, "city") } };
    isRefusal((await fails(UnprocessableEntityError, () => client.responses.parse(asked))).error);
    isRefusal((await fails(APIError, () => client.responses.stream(asked).finalResponse())).error);
  },

  async models_are_listed() {
    const names = [];
    for await (const { id } of client.models.list()) names.push(id);
    assert.ok(names.includes(model), names.join());
  },
};

const byEmbedded = {
  async embedded_chat_parses() {
    const response_format = zodResponseFormat(Mood, "mood");
    const asked = { model: embedded, messages: saying(ask.mood), response_format };
    const answer = await chat.parse(asked);
    isMood(answer.choices[0].message.parsed);
    assert.ok(answer.usage.completion_tokens > 0);
    const short = { ...asked, max_completion_tokens: 2 };
    assert.equal((await fails(UnprocessableEntityError, () => chat.parse(short))).code, "truncated");
  },

  async embedded_responses_stream() {
    const asked = { model: embedded, input: ask.mood, text: { format: zodTextFormat(Mood, "mood") } };
    isMood((await client.responses.stream(asked).finalResponse()).output_parsed);
  },
};

await run(scripted, byEmbedded);
