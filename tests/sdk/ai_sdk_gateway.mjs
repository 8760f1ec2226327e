// The Vercel AI SDK, talking to `airtight serve` by its providers for OpenAI, compatible servers and Anthropic.

import assert from "node:assert/strict";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, Output, generateObject, generateText, streamObject, streamText } from "ai";
import {
  City, Mood, Trip, ask, embedded, fails, grows, halting, input, isMood, isRefusal, model, openaiAccess, output, run, theCity,
  theTrip,
} from "./stage.mjs";

// It warns of what its next version will not have.
globalThis.AI_SDK_LOG_WARNINGS = false;
const openai = createOpenAI(openaiAccess);
const compatible = createOpenAICompatible({ name: "airtight", supportsStructuredOutputs: true, includeUsage: true, ...openaiAccess });
const anyObject = createOpenAICompatible({ name: "airtight", ...openaiAccess });
const anthropic = createAnthropic(openaiAccess);
const ways = (name) => [openai(name), openai.chat(name), compatible(name), anthropic(name)];
const asking = (way, prompt, schema) => ({ model: way, prompt, schema, maxRetries: 2 });
const asOutput = ({ schema, ...asked }) => ({ ...asked, output: Output.object({ schema }) });
const counted = ({ inputTokens, outputTokens }) => assert.deepEqual([inputTokens, outputTokens], [input, output]);

/** What is left of a stream that broke: what was seen, and why it ended. */
async function broken(start, partialsOf) {
  let error;
  const stream = start({ onError: (it) => (error = it.error) });
  const partials = [];
  for await (const partial of partialsOf(stream)) partials.push(partial);
  return { partials, error };
}

const scripted = {
  async objects_are_generated() {
    for (const way of ways(model)) {
      const { object, usage, finishReason } = await generateObject(asking(way, ask.trip, Trip));
      assert.deepEqual([object, finishReason], [theTrip, "stop"]);
      counted(usage);
    }
  },

  async text_with_an_output_is_generated() {
    for (const way of ways(model)) {
      const { output: value, usage } = await generateText(asOutput(asking(way, ask.trip, Trip)));
      assert.deepEqual(value, theTrip);
      counted(usage);
    }
  },

  async streamed_objects_only_grow() {
    for (const way of ways(model)) {
      const partials = await halting(async (prompt, see) => {
        const stream = streamObject(asking(way, prompt, Trip));
        for await (const partial of stream.partialObjectStream) await see(partial);
        assert.deepEqual(await stream.object, theTrip);
      });
      grows(partials, theTrip);
      const counting = streamObject(asking(way, ask.trip, Trip));
      for await (const _ of counting.textStream);
      counted(await counting.usage);
    }
  },

  async streamed_text_with_an_output_only_grows() {
    for (const way of ways(model)) {
      const partials = await halting(async (prompt, see) => {
        const stream = streamText(asOutput(asking(way, prompt, Trip)));
        for await (const partial of stream.partialOutputStream) await see(partial);
        assert.deepEqual(await stream.output, theTrip);
      });
      grows(partials, theTrip);
    }
  },

  async any_object_can_be_asked_for() {
    const { object } = await generateObject(asking(anyObject(model), ask.city, City));
    assert.deepEqual(object, theCity);
  },

  async what_no_answer_satisfied_is_told_once() {
    for (const way of ways(model)) {
      const error = await fails(APICallError, () => generateObject(asking(way, ask.doomed, City)));
      assert.deepEqual([error.statusCode, error.isRetryable], [422, false]);
      isRefusal(JSON.parse(error.responseBody).error);
    }
  },

  async a_stream_that_is_doomed_breaks() {
    for (const way of ways(model)) {
      const start = (more) => streamObject({ ...asking(way, ask.doomed, City), ...more });
      const { partials, error } = await broken(start, (stream) => stream.partialObjectStream);
      assert.ok(error, "the stream ended as if nothing had happened");
      // What was seen is a beginning that could have conformed.
      grows(partials, { city: theCity.city });
    }
  },
};

const byEmbedded = {
  async embedded_objects_are_generated_and_streamed() {
    for (const way of ways(embedded)) {
      const { object, usage } = await generateObject(asking(way, ask.mood, Mood));
      isMood(object);
      assert.ok(usage.outputTokens > 0);
    }
    const stream = streamObject(asking(compatible(embedded), ask.mood, Mood));
    for await (const _ of stream.textStream);
    isMood(await stream.object);
    const short = { ...asking(compatible(embedded), ask.mood, Mood), maxOutputTokens: 2 };
    const error = await fails(APICallError, () => generateObject(short));
    assert.equal(JSON.parse(error.responseBody).error.code, "truncated");
  },
};

await run(scripted, byEmbedded);
