// What is asked of `airtight serve` in these tests, as in `stage.py`, and how answers are held to it.

import assert from "node:assert/strict";
import { z } from "zod";

const { GATEWAY: base, GATEWAY_TOKEN: apiKey, GATEWAY_EMBEDDED: hasWeights } = process.env;
export const openaiAccess = { baseURL: `${base}/v1`, apiKey };
export const anthropicAccess = { baseURL: base, apiKey };
// Whoever is set for the server: the scripted model, as Anthropic. It is asked in OpenAI's format by the other name.
export const [model, other, embedded] = ["airtight", "openai:fake", "embedded"];

export const City = z.object({ city: z.string(), people: z.number().int() });
export const Trip = z.object({
  title: z.string(),
  stops: z.array(z.object({ city: z.string(), nights: z.number().int().min(1) })),
  by: z.enum(["rail", "road"]),
});
export const Mood = z.object({ mood: z.enum(["good", "bad"]), score: z.number().int().min(0).max(5) });

export const ask = {
  city: "gateway: city",
  trip: "gateway: trip",
  doomed: "gateway: doomed",
  mood: "The sun is out, and everybody smiles. What is the mood?",
};
export const theCity = { city: "Tōkyō", people: 14 };
export const theTrip = {
  title: 'Zwei "Städte" – 東京 🦀',
  stops: [{ city: "Tōkyō", nights: 3 }, { city: "Kyōto\n", nights: 2 }],
  by: "rail",
};
/** Tokens of every scripted answer. */
export const [input, output] = [100, 40];

export const saying = (content) => [{ role: "user", content }];

/** Holds an answer of the embedded model to its type; which one it is, is the model's affair. */
export const isMood = (value) => assert.deepEqual(Mood.parse(value), value);

/** Demands the error that `act` must end with, by what is in it. */
export async function fails(kind, act) {
  try {
    await act();
  } catch (error) {
    assert.ok(error instanceof kind, `${error?.constructor?.name}: ${error?.message}`);
    return error;
  }
  assert.fail(`no ${kind.name}`);
}

/** Demands that an error of the gateway says that no answer satisfied the contract, and why. */
export function isRefusal(told) {
  assert.deepEqual([told.code, told.violations[0].pointer], ["attempts_exhausted", "/people"]);
}

/** Tells the scripted model something. */
async function post(path, body) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(process.env.FAKE_ANTHROPIC + path, { method: "POST", headers, body: body && JSON.stringify(body) });
  assert.ok(answer.ok, `${path}: ${answer.status} ${await answer.text()}`);
}

let number = 0;

/**
 * Returns what a client sees of a trip while it grows, by `watch(prompt, see)`, which awaits `see(partial)`.
 *
 * The model goes on only once a beginning was seen: a client that is shown nothing before the end waits for ever.
 */
export async function halting(watch) {
  const name = `halting-${process.pid}-${number++}.`;
  const reply = { type: "say", pieces: [{ type: "text", text: JSON.stringify(theTrip) }] };
  const points = [{ after: 12, act: { type: "gate", name } }];
  await post("/fake/turns", { when: { contains: [name] }, reply, chunk_chars: 5, points });
  const seen = [];
  const see = (partial) => {
    seen.push(structuredClone(partial));
    return post(`/fake/gates/${name}`);
  };
  await watch(`gateway: ${name}`, see);
  return seen;
}

/** Demands that each partial value is a beginning of the next, and the last one of `whole`. */
export function grows(partials, whole) {
  const all = [...partials, whole];
  all.slice(1).forEach((after, at) => {
    const told = `\n  before ${JSON.stringify(all[at])}\n  after  ${JSON.stringify(after)}`;
    assert.ok(begins(all[at], after), told);
  });
}

function begins(before, after) {
  if (before === null || before === undefined) return true;
  if (typeof before !== typeof after) return false;
  if (Array.isArray(before)) return before.length <= after.length && before.every((it, at) => begins(it, after[at]));
  if (typeof before === "object") return Object.keys(before).every((name) => begins(before[name], after?.[name]));
  // The digits of a number arrive one by one, too.
  return String(after).startsWith(String(before));
}

/** Runs the cases; those of the embedded model where its weights are, and else says so aloud. */
export async function run(scripted, byEmbedded) {
  const cases = { ...scripted, ...(hasWeights ? byEmbedded : {}) };
  for (const [name, act] of Object.entries(cases)) {
    await act();
    console.log(`  ok  ${name}`);
  }
  if (!hasWeights) console.log(`  NOT RUN, without weights: ${Object.keys(byEmbedded).join(", ")}`);
}
