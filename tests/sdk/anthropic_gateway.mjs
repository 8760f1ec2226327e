// The official `@anthropic-ai/sdk`, talking to `airtight serve`.

import assert from "node:assert/strict";
import Anthropic, { APIError, UnprocessableEntityError } from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import {
  City, Mood, Trip, anthropicAccess, ask, embedded, fails, grows, halting, input, isMood, isRefusal, model, other, output, run,
  saying, theCity, theTrip,
} from "./stage.mjs";

const client = new Anthropic({ ...anthropicAccess, maxRetries: 0 });
const asking = (content, contract, more) => ({
  model,
  max_tokens: 500,
  messages: saying(content),
  output_config: { format: zodOutputFormat(contract) },
  ...more,
});

const scripted = {
  async messages_parse() {
    for (const name of [model, other]) {
      const answer = await client.messages.parse(asking(ask.trip, Trip, { model: name }));
      assert.deepEqual(answer.parsed_output, theTrip);
      assert.deepEqual([answer.stop_reason, answer.model], ["end_turn", name]);
      assert.deepEqual([answer.usage.input_tokens, answer.usage.output_tokens], [input, output]);
    }
  },

  async messages_stream_what_only_grows() {
    const texts = await halting(async (prompt, see) => {
      const stream = client.messages.stream(asking(prompt, Trip)).on("text", (_, text) => see(text));
      assert.deepEqual(JSON.parse(await stream.finalText()), theTrip);
    });
    grows(texts, JSON.stringify(theTrip));
    const { usage } = await client.messages.stream(asking(ask.trip, Trip)).finalMessage();
    assert.equal(usage.output_tokens, output);
  },

  async messages_call_a_forced_tool() {
    const tools = [{ name: "City", input_schema: z.toJSONSchema(City) }];
    const asked = { model, max_tokens: 500, messages: saying(ask.city), tools };
    asked.tool_choice = { type: "tool", name: "City" };
    assert.deepEqual((await client.messages.create(asked)).content[0].input, theCity);
    const partials = [];
    const stream = client.messages.stream(asked).on("inputJson", (_, json) => partials.push(structuredClone(json)));
    assert.deepEqual((await stream.finalMessage()).content[0].input, theCity);
    grows(partials, theCity);
  },

  async messages_fail_with_violations() {
    const asked = asking(ask.doomed, City);
    isRefusal((await fails(UnprocessableEntityError, () => client.messages.parse(asked))).error.error);
    isRefusal((await fails(APIError, () => client.messages.stream(asked).finalMessage())).error.error);
  },

  async models_are_listed() {
    const names = [];
    for await (const { id } of client.models.list()) names.push(id);
    assert.ok(names.includes(model), names.join());
  },
};

const byEmbedded = {
  async embedded_messages_parse() {
    const answer = await client.messages.parse(asking(ask.mood, Mood, { model: embedded }));
    isMood(answer.parsed_output);
    const short = asking(ask.mood, Mood, { model: embedded, max_tokens: 2 });
    const error = await fails(UnprocessableEntityError, () => client.messages.parse(short));
    assert.equal(error.error.error.code, "truncated");
  },
};

await run(scripted, byEmbedded);
