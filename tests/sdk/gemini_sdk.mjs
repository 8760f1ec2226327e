// The official `@google/genai` client, talking to the scripted server.

import assert from "node:assert/strict";
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from "@google/genai";

const client = new GoogleGenAI({
  apiKey: "key",
  httpOptions: { baseUrl: process.env.FAKE_GEMINI, retryOptions: { attempts: 1 } },
});
const parameters = { type: "object", properties: {} };
const tools = [{ functionDeclarations: [{ name: "read_file", parametersJsonSchema: parameters }] }];

const asking = (name, config) => ({ model: "gemini-fake", contents: `case: ${name}`, config });

/** What the client reports of a streamed answer, and of a whole one, which must be the same. */
async function answer(name, config) {
  const seen = { text: "", thought: "", calls: [] };
  const add = (chunk) => {
    for (const part of chunk.candidates[0].content?.parts ?? []) {
      if (part.thought) seen.thought += part.text;
      else seen.text += part.text ?? "";
    }
    seen.calls.push(...(chunk.functionCalls ?? []));
    seen.finish = chunk.candidates[0].finishReason ?? seen.finish;
    seen.usage = chunk.usageMetadata;
    seen.model = chunk.modelVersion;
  };
  for await (const chunk of await client.models.generateContentStream(asking(name, config))) add(chunk);
  const streamed = { ...seen };
  Object.assign(seen, { text: "", thought: "", calls: [], finish: undefined });
  add(await client.models.generateContent(asking(name, config)));
  assert.deepEqual(streamed, seen);
  return seen;
}

const cases = {
  async text_and_usage() {
    const { text, finish, usage, model } = await answer("text");
    assert.equal(text, "Grüße aus 東京 🦀, in several chunks.");
    assert.deepEqual([finish, model], ["STOP", "gemini-fake"]);
    assert.deepEqual({ ...usage }, {
      promptTokenCount: 160,
      candidatesTokenCount: 28,
      totalTokenCount: 200,
      cachedContentTokenCount: 60,
      thoughtsTokenCount: 12,
    });
  },

  async thinking() {
    const { thought, text } = await answer("thinking", { thinkingConfig: { includeThoughts: true } });
    assert.deepEqual([thought, text], ["They want a greeting.", "Hello."]);
  },

  async calls() {
    const one = await answer("one call", { tools });
    assert.deepEqual(one.calls, [
      { id: "id_one", name: "read_file", args: { path: "größe.txt", lines: [1, 2] } },
    ]);
    assert.deepEqual([one.text, one.finish], ["Let me look.", "STOP"]);
    const two = await answer("two calls", { tools });
    assert.deepEqual(two.calls.map((call) => [call.id, call.args.path]), [["id_one", "a"], ["id_two", "b"]]);
    const functionCallingConfig = { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ["read_file"] };
    const none = await answer("no arguments", { tools, toolConfig: { functionCallingConfig } });
    assert.deepEqual(none.calls[0].args, {});
  },

  async results_go_back() {
    const call = await client.models.generateContent(asking("one call", { tools }));
    const said = [{ role: "user", parts: [{ text: "Read it." }] }, call.candidates[0].content];
    const functionResponse = { id: "id_one", name: "read_file", response: { output: "case: text" } };
    const contents = [...said, { role: "user", parts: [{ functionResponse }] }];
    const done = await client.models.generateContent({ model: "gemini-fake", contents });
    assert.equal(done.text, "Grüße aus 東京 🦀, in several chunks.");
    await assert.rejects(
      client.models.generateContent({ model: "gemini-fake", contents: said }),
      (error) => error instanceof ApiError && error.status === 400 && /function response/.test(error.message),
    );
  },

  async stops() {
    assert.equal((await answer("refusal")).finish, "SAFETY");
    const { finish, text } = await answer("limit");
    assert.deepEqual([finish, text], ["MAX_TOKENS", '{"half": ']);
  },

  async structured_output() {
    const config = { responseMimeType: "application/json", responseJsonSchema: parameters };
    const { text } = await answer("structured", config);
    assert.deepEqual(JSON.parse(text), { city: "Paris", people: 2100000 });
  },

  async bytes_split_anywhere() {
    assert.equal((await answer("split bytes")).text, "äöü 東京 🦀🦀🦀");
  },

  async errors() {
    const refused = (name, status, words) =>
      assert.rejects(answer(name), (error) => {
        assert.ok(error instanceof ApiError, error);
        assert.equal(error.status, status);
        assert.match(error.message, words);
        return true;
      });
    await refused("rate limit", 429, /Slow down.*RESOURCE_EXHAUSTED/s);
    await refused("bad key", 401, /UNAUTHENTICATED/);
    await refused("breaks off", 529, /Too busy.*UNAVAILABLE/s);
    await assert.rejects(answer("cut"));
  },

  async beside_the_model() {
    const count = await client.models.countTokens({ model: "gemini-fake", contents: "case: text" });
    assert.equal(count.totalTokens, 10);
    const names = [];
    for await (const model of await client.models.list()) names.push(model.name);
    assert.deepEqual(names, ["models/fake-model"]);
  },
};

for (const [name, run] of Object.entries(cases)) {
  await run();
  console.log(`  ok  ${name}`);
}
