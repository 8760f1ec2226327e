// Reads a stream of claude by readline and JSON.parse, and collects what bench/measure_stream.py does.

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

const [messages, events, texts] = [[], [], []];
const tokens = { input_tokens: 0, output_tokens: 0 };
let [warnings, error, result] = [0, null, null];

const stream = createReadStream(process.argv[2], { encoding: "utf8", highWaterMark: 1 << 18 });
for await (const line of createInterface({ input: stream, crlfDelay: Infinity })) {
  if (line.trim() === "") continue;
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    warnings += 1;
    continue;
  }
  if (message === null || typeof message !== "object" || Array.isArray(message)) continue;
  messages.push(message);
  if (message.type !== undefined) events.push(message);
  if (message.type === "assistant") {
    const content = message.message?.content;
    for (const block of Array.isArray(content) ? content : []) {
      if (block?.type === "text") texts.push(block.text ?? "");
    }
  } else if (message.type === "result") {
    result = message;
    for (const name of Object.keys(tokens)) {
      const count = message.usage?.[name];
      tokens[name] += Number.isInteger(count) ? count : 0;
    }
    if (message.is_error === true) error ??= message.result || "API error (no detail)";
  }
}
const output = texts.join("\n").length;
const payload = result?.structured_output;
console.log(JSON.stringify({ lines: messages.length, events: events.length, output, warnings, tokens, error, payload }));
