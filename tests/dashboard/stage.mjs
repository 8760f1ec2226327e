// A folder with the real programs in it: the scripted model, `airtight`, and `airtight serve`.
import { spawn } from "node:child_process";
import { mkdtemp, mkdir, writeFile, rm, chmod } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { createInterface } from "node:readline";

export const TOKEN = "token-of-the-dashboard-test";

// The first line that a program says, on one of its streams.
const firstLine = (stream) => new Promise((done, failed) => {
  const lines = createInterface({ input: stream });
  lines.once("line", (line) => { stream.resume(); done(line); });
  lines.once("close", () => failed(new Error("the program ended before it said anything")));
});

export class Stage {
  constructor(binaries) {
    this.binaries = binaries;
    this.children = [];
  }

  async raise() {
    this.folder = await mkdtemp(join(tmpdir(), "airtight-dashboard-"));
    await this.write("script.json", JSON.stringify({ turns: [] }));
    await this.write("token.txt", TOKEN);
    const fake = this.start("airtight-fake", ["--script", "script.json"]);
    this.bases = JSON.parse(await firstLine(fake.stdout));
    return this;
  }

  async write(name, text, mode) {
    const path = join(this.folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    if (mode) await chmod(path, mode);
    return path;
  }

  environment(more = {}) {
    return {
      PATH: `${this.folder}/bin:/usr/bin:/bin`,
      HOME: this.folder,
      XDG_CONFIG_HOME: join(this.folder, "config"),
      XDG_DATA_HOME: join(this.folder, "data"),
      AIRTIGHT_RETRY_ATTEMPTS: "0",
      AIRTIGHT_REASKS: "1",
      AIRTIGHT_MODEL: "anthropic:claude-sonnet-4-5",
      ANTHROPIC_BASE_URL: this.bases?.anthropic ?? "",
      ANTHROPIC_API_KEY: "key-of-the-test",
      OPENAI_BASE_URL: this.bases?.openai ?? "",
      OPENAI_API_KEY: "key-of-the-test",
      ESTATE: this.folder,
      ...more,
    };
  }

  start(program, args, more) {
    const child = spawn(join(this.binaries, program), args, {
      cwd: this.folder, env: this.environment(more), stdio: ["ignore", "pipe", "pipe"],
    });
    this.children.push(child);
    return child;
  }

  // Runs `airtight` to its end; what it says and how it ended.
  async airtight(args, more) {
    const child = spawn(join(this.binaries, "airtight"), args, {
      cwd: this.folder, env: this.environment(more), stdio: ["ignore", "pipe", "pipe"],
    });
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"]) {
      child[name].setEncoding("utf8").on("data", (more) => { said[name] += more; });
    }
    const code = await new Promise((done, failed) => child.once("error", failed).once("close", done));
    return { code, ...said };
  }

  // Adds a turn to what the model says.
  async say(turn) {
    const answer = await fetch(`${this.bases.anthropic}/fake/turns`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(turn),
    });
    if (!answer.ok) throw new Error(`the scripted model refuses the turn: ${await answer.text()}`);
  }

  gate(name, method) {
    return fetch(`${this.bases.anthropic}/fake/gates/${name}`, { method });
  }

  async serve() {
    const server = this.start("airtight", ["serve", "--bind", "127.0.0.1:0", "--token-file", "token.txt"]);
    const line = await firstLine(server.stderr);
    this.url = line.trim().split(" ").at(-1);
    if (!this.url.startsWith("http://")) throw new Error(`no server: ${line}`);
    return this.url;
  }

  async strike() {
    for (const child of this.children) child.kill("SIGTERM");
    await Promise.all(this.children.map((child) => child.exitCode !== null || new Promise((done) => child.once("exit", done))));
    await rm(this.folder, { recursive: true, force: true });
  }
}
