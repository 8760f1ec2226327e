// Times one task of a JavaScript peer. Usage: node measure.mjs TASK INPUT [SCHEMA]
// Prints {"ns": best of several} or {"refused": why}. bench/run gives every peer the same inputs.
// It runs as a copy beside their node_modules, so plain imports find them.
import { readFileSync } from 'node:fs';

const [task, inputPath, schemaPath] = process.argv.slice(2);
const input = readFileSync(inputPath, 'utf8');
const schema = schemaPath && JSON.parse(readFileSync(schemaPath, 'utf8'));
const DELTA = 4;
// Keywords of ours (`x-…`) are passed over, as the other peers do: a contract that has them is none to refuse.
const OPTIONS = { strictSchema: false, strictTypes: false, strictRequired: false };

const tasks = {
  async verdict() {
    const validate = await ajvCompiled(schema);
    return () => {
      if (!validate(JSON.parse(input))) throw new Error('rejected');
    };
  },
  async compile() {
    const { Ajv, addFormats } = await ajv();
    return () => addFormats(new Ajv(OPTIONS)).compile(schema);
  },
  async jsonrepair() {
    const { jsonrepair } = await import('jsonrepair');
    return () => JSON.parse(jsonrepair(input));
  },
  async ai() {
    const { parsePartialJson } = await import('ai');
    return async () => {
      for (let end = DELTA; end < input.length + DELTA; end += DELTA) {
        await parsePartialJson(input.slice(0, end));
      }
    };
  },
  async jsonriver() {
    const { parse } = await import('jsonriver');
    return async () => {
      async function* deltas() {
        for (let at = 0; at < input.length; at += DELTA) yield input.slice(at, at + DELTA);
      }
      for await (const value of parse(deltas())) void value;
    };
  },
};

async function ajv() {
  // Ajv has a class for each generation of drafts.
  const latest = String(schema.$schema).includes('2020-12');
  const { default: Ajv } = await import(latest ? 'ajv/dist/2020.js' : 'ajv');
  const { default: formats } = await import('ajv-formats');
  const addFormats = (instance) => {
    (formats.default ?? formats)(instance);
    return instance;
  };
  return { Ajv: Ajv.default ?? Ajv, addFormats };
}

async function ajvCompiled(schema) {
  const { Ajv, addFormats } = await ajv();
  return addFormats(new Ajv(OPTIONS)).compile(schema);
}

// Repeats until half a second is spent, at least once, and keeps the best.
async function best(run) {
  let least = Infinity;
  const stop = performance.now() + 500;
  do {
    const start = process.hrtime.bigint();
    await run();
    least = Math.min(least, Number(process.hrtime.bigint() - start));
  } while (performance.now() < stop);
  return least;
}

try {
  console.log(JSON.stringify({ ns: await best(await tasks[task]()) }));
} catch (error) {
  console.log(JSON.stringify({ refused: String(error.message).slice(0, 60) }));
}
