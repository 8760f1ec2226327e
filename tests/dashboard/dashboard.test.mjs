// Every page of `airtight serve` in a real browser, over a ledger that the real programs filled.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Window, launch } from "./browser.mjs";
import { NAUGHTY, call, fill, say, text } from "./fill.mjs";
import { Stage } from "./stage.mjs";

const { DASHBOARD_BINARIES: binaries, DASHBOARD_SHOTS: shots } = process.env;

let browser;
let stage;
let blank;
let url;

before(async () => {
  stage = await new Stage(binaries).raise();
  await fill(stage);
  url = await stage.serve();
  blank = await new Stage(binaries).raise();
  await blank.serve();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await stage?.strike();
  await blank?.strike();
});

const api = async (path) => (await fetch(`${url}/api/v1${path}`)).json();

// The first link on a page that leads to something of this kind.
async function first(window, page, selector) {
  await window.goto(page);
  return window.page.locator(selector).first().getAttribute("href");
}

const PAGES = [
  ["overview", "/", ["Overview", "Running now", "Needs a person", "Failure rate by provider", "anthropic", "openai", "Roots completed", "Critical events"]],
  ["runs", "/runs", ["Runs", "review", "triage", "Older"]],
  ["queue", "/queue", ["Review queue", "Escalations that ask for leave", "attempts_exhausted"]],
  ["events", "/events", ["Events", "connection refused", "critical"]],
  ["memories", "/memories", ["Memories", "starts in 30 s", "Write one down"]],
  ["services", "/services", ["Services", "web", "mail", "backup"]],
  ["service", "/services/web", ["web", "connection refused", "Healthy in a row"]],
  ["sessions", "/sessions", ["Sessions", "Tier 3", "escalated"]],
  ["stats", "/stats", ["Statistics", "By model", "By contract", "How runs ended"]],
  ["contracts", "/contracts", ["Contracts", "review", "triage"]],
  ["contract", "/contracts/review", ["review", "Versions", "Portability", "openai", "From 1.0.0 to 2.0.0", "major"]],
  ["cooldowns", "/cooldowns", ["Cooldowns", "docker restart web", "success"]],
  ["settings", "/settings", ["Settings", "model", "$AIRTIGHT_MODEL"]],
  ["login", "/login", ["Log in", "Token"]],
];

for (const look of ["desktop", "phone", "dark", "plain"]) {
  describe(`every page, ${look}`, () => {
    for (const [name, path, words] of PAGES) {
      it(`${name} shows what it must`, async () => {
        const window = await Window.open(browser, url, look);
        assert.equal(await window.goto(path), 200);
        const shown = await window.text();
        for (const word of words) assert.ok(shown.includes(word), `${path} lacks ${word}:\n${shown}`);
        await window.shoot(name, shots);
        await window.check();
        await window.close();
      });
    }

    it("a run, a failed run and a session show what happened", async () => {
      const window = await Window.open(browser, url, look);
      const open = async (name, page, selector, words) => {
        await window.goto(await first(window, page, selector));
        const shown = await window.text();
        for (const word of words) assert.ok(shown.includes(word), `${name} lacks ${word}:\n${shown}`);
        await window.shoot(name, shots);
        await window.check();
      };
      const runs = (await api("/runs?limit=100")).items ?? [];
      const mended = runs.find((run) => run.rung === "repair");
      assert.ok(mended, "no run was repaired");
      await window.goto(`/runs/${mended.id}`);
      assert.ok((await window.text()).includes("Edits"));
      await window.shoot("run-edited", shots);
      await window.check();
      await open("run", "/runs?contract=review&valid=valid", "td a.cell-main", ["Accepted value", "What the model said", "Activity", "What was asked"]);
      await open("run-failed", "/runs?contract=review&valid=invalid", "td a.cell-main", ["Why there is no value", "Attempts", "/score"]);
      await open("session", "/sessions?tier=3", "td a.cell-main", ["Chain", "this session", "docker restart web"]);
      await open("review", "/queue", "td a.cell-main", ["The value", "What is wrong with the last answer", "Log in to decide"]);
      await window.close();
    });
  });
}

describe("an empty ledger", () => {
  for (const path of ["/", "/runs", "/queue", "/events", "/memories", "/services", "/sessions", "/stats", "/contracts", "/cooldowns"]) {
    it(`${path} says what to type next`, async () => {
      const window = await Window.open(browser, blank.url);
      assert.equal(await window.goto(path), 200);
      assert.ok(await window.page.locator(".empty code").count() > 0, `${path}: ${await window.text()}`);
      await window.shoot(`empty-${path.slice(1) || "overview"}`, shots);
      await window.check();
      await window.close();
    });
  }
});

describe("finding one's way", () => {
  it("filters, searches and pages, and keeps what was asked", async () => {
    const window = await Window.open(browser, url);
    await window.goto("/runs");
    await window.page.selectOption("#f-valid", "invalid");
    await window.page.fill("#f-contract", "review");
    await window.page.click("text=Filter");
    await window.page.waitForURL(/valid=invalid/);
    assert.equal(await window.page.inputValue("#f-contract"), "review");
    const outcomes = await window.page.locator("tbody .badge").allInnerTexts();
    assert.ok(outcomes.length > 0 && !outcomes.includes("met"), String(outcomes));
    await window.goto("/runs?q=haiku");
    assert.equal(await window.page.locator("tbody tr").count(), 50);
    const before = await window.page.locator("tbody a.cell-main").evaluateAll((links) => links.map((it) => it.href));
    await window.page.click("text=Older");
    await window.page.waitForURL(/q=haiku/);
    const next = await window.page.locator("tbody a.cell-main").evaluateAll((links) => links.map((it) => it.href));
    assert.ok(next.length > 0 && next.every((link) => !before.includes(link)), "a run stands on two pages");
    await window.page.click("text=Newest");
    await window.goto("/runs?q=%25_%27nothing");
    assert.ok((await window.text()).includes("No run is like that"));
    await window.check();
    await window.close();
  });

  it("works by keyboard alone", async () => {
    const window = await Window.open(browser, url);
    await window.goto("/runs");
    await window.page.keyboard.press("Tab");
    assert.equal(await window.page.evaluate(() => document.activeElement.textContent), "Skip to content");
    await window.page.keyboard.press("Enter");
    assert.equal(await window.page.evaluate(() => document.activeElement.id), "main");
    await window.close();
  });

  it("has a menu on a phone without scripts", async () => {
    const window = await Window.open(browser, url, "phone");
    await window.goto("/");
    const link = window.page.locator("nav.menu a", { hasText: "Statistics" });
    assert.equal(await link.isVisible(), false);
    await window.page.click(".menu-label");
    assert.equal(await link.isVisible(), true);
    await window.shoot("menu", shots);
    await link.click();
    await window.page.waitForURL(/\/stats/);
    await window.close();
  });

  it("tells errors as pages to browsers and as JSON to programs", async () => {
    const window = await Window.open(browser, url);
    window.expects = (message) => message.includes("404") || message.includes("400");
    assert.equal(await window.goto("/runs/0000"), 404);
    assert.ok((await window.text()).includes("there is no run"));
    assert.equal(await window.goto("/nowhere"), 404);
    await window.shoot("fault", shots);
    assert.equal(await window.goto("/runs?after=x"), 400);
    await window.check();
    const program = await fetch(`${url}/runs/0000`);
    assert.equal(program.status, 404);
    assert.equal((await program.json()).error.code, "not_found");
    await window.close();
  });
});

describe("changing things", () => {
  it("needs a login, and says when the token is wrong", async () => {
    const window = await Window.open(browser, url);
    await window.goto(await first(window, "/queue", "td a.cell-main"));
    assert.equal(await window.page.locator("button[value=accept]").count(), 0);
    await window.page.click("text=Log in to decide");
    await window.page.waitForURL(/login\?next/);
    await window.page.fill("#token", "this-is-not-the-token");
    await window.page.click("button[type=submit]");
    await window.page.waitForURL(/problem=/);
    assert.ok((await window.text()).includes("That is not the token."));
    await window.check();
    await window.logIn();
    assert.ok((await window.page.locator(".side-foot").innerText()).includes("Log out"));
    await window.page.click("text=Log out");
    await window.page.waitForURL(`${url}/`);
    assert.ok((await window.page.locator(".side-foot").innerText()).includes("Log in"));
    await window.close();
  });

  it("a value is judged, refused, accepted; a run is rejected", async () => {
    const window = await Window.open(browser, url);
    await window.logIn();
    await window.goto("/queue");
    const address = await window.page.locator("td a.cell-main", { hasText: "review" }).first().getAttribute("href");
    await window.goto(address);
    await window.page.fill("#value", "{\"summary\": \"by hand\", \"score\": 1000}");
    await window.page.locator("[data-verdict] code", { hasText: "/score" }).waitFor();
    await window.page.fill("#value", "{\"summary\": \"by hand\", \"score\": 10}");
    await window.page.locator("[data-verdict]", { hasText: "It is not accepted yet." }).waitFor();
    await window.page.fill("#value", "{\"summary\": \"by hand\", \"score\": 1000}");
    await window.page.click("button[value=accept]");
    assert.ok((await window.text()).includes("The value does not satisfy the contract."));
    assert.ok((await window.text()).includes("/score"));
    await window.shoot("review-refused", shots);
    await window.check();
    await window.page.fill("#value", "{\"summary\": \"by hand\", \"score\": 4}");
    await window.page.click("button[value=judge]");
    assert.ok((await window.text()).includes("It is not accepted yet."));
    await window.page.fill("#note", "looked at it myself");
    await window.page.click("button[value=accept]");
    await window.page.waitForURL(/\/runs\//);
    const shown = await window.text();
    assert.ok(shown.includes("accepted by hand") && shown.includes("looked at it myself"), shown);
    await window.shoot("run-decided", shots);
    await window.goto("/queue");
    const next = await window.page.locator("td a.cell-main", { hasText: "review" }).first().getAttribute("href");
    assert.notEqual(next, address);
    await window.goto(next);
    await window.page.click("button[value=reject]");
    await window.page.waitForURL(/\/runs\//);
    assert.ok((await window.text()).includes("rejected by hand"));
    await window.check();
    await window.close();
  });

  it("a memory is written, changed and deleted", async () => {
    const window = await Window.open(browser, url);
    await window.logIn();
    await window.goto("/memories");
    await window.page.fill("#m-observation", " ");
    await window.page.click("text=Remember");
    assert.ok((await window.text()).includes("must say something"));
    await window.page.fill("#m-service", "mail");
    await window.page.fill("#m-observation", "greylists for ten minutes");
    await window.page.click("text=Remember");
    await window.page.waitForURL(/\/memories$/);
    const row = window.page.locator("tr", { hasText: "greylists for ten minutes" });
    assert.ok((await row.innerText()).includes("0.70"));
    await row.locator("a.cell-main").click();
    await window.page.fill("#m-confidence", "0.2");
    await window.page.click("button[value=save]");
    await window.page.waitForURL(/\/memories$/);
    assert.ok((await row.innerText()).includes("inactive"));
    assert.ok((await row.getAttribute("class")).includes("faded"));
    await window.shoot("memories-faded", shots);
    await row.locator("a.cell-main").click();
    await window.check();
    await window.page.click("button[value=delete]");
    await window.page.waitForURL(/\/memories$/);
    assert.equal(await row.count(), 0);
    await window.check();
    await window.close();
  });

  it("an escalation is answered", async () => {
    const window = await Window.open(browser, url);
    await window.logIn();
    await window.goto("/queue");
    await window.check();
    await window.page.locator("button[value=declined]").first().click();
    await window.page.waitForURL(/\/queue/);
    assert.equal(await window.page.locator("button[value=declined]").count(), 0);
    await window.close();
  });
});

describe("what happens now", () => {
  it("a value grows while it is being said", async () => {
    const said = JSON.stringify({ topic: "praise", urgent: false, reply: "Thanks, it grows and grows." });
    await stage.say(say([text(said)], { when: { contains: ["Sort slowly"] }, points: [{ after: 8, act: { type: "gate", name: "grow" } }] }));
    const child = stage.start("airtight", ["run", "--json-schema", "triage", "Sort slowly."]);
    const over = new Promise((done) => child.once("exit", done));
    await stage.gate("grow", "GET");
    const window = await Window.open(browser, url);
    await window.goto("/");
    const running = window.page.locator("section[aria-labelledby=running] a.cell-main", { hasText: "triage" }).first();
    await running.waitFor();
    await window.goto(await running.getAttribute("href"));
    await window.page.locator("[data-growing] .tree", { hasText: "praise" }).waitFor();
    assert.ok(!(await window.text()).includes("grows and grows"));
    await window.shoot("run-growing", shots);
    await window.check();
    await stage.gate("grow", "POST");
    await window.page.locator("h2", { hasText: "Accepted value" }).waitFor();
    assert.ok((await window.text()).includes("grows and grows"));
    assert.equal(await window.page.locator("[data-growing]").count(), 0);
    assert.equal(await over, 0);
    await window.close();
  });

  it("the watch looks when somebody asks, and stops when somebody says so", async () => {
    const calm = { summary: "Quiet.", events: [], escalation: { needed: false }, services_checked: [] };
    await stage.say(say([call("structured_output", calm)]));
    const child = stage.start("airtight", ["watch", "--config", "watch.toml"]);
    const over = new Promise((done) => child.once("exit", done));
    const window = await Window.open(browser, url);
    await window.logIn();
    await window.goto("/sessions");
    await window.page.locator("h2#now").waitFor();
    await window.page.locator("#w-prompt").waitFor();
    await stage.say(say([call("structured_output", calm)],
      { when: { contains: ["Count the disks"] }, points: [{ after: 0, act: { type: "gate", name: "disks" } }] }));
    await window.page.fill("#w-prompt", "Count the disks");
    await window.shoot("watch-ask", shots);
    await window.check();
    await window.page.click("text=Look now");
    await stage.gate("disks", "GET");
    await window.page.locator("button", { hasText: "Stop it" }).waitFor();
    await window.shoot("watch-stop", shots);
    await window.check();
    await window.page.click("text=Stop it");
    await window.page.locator("td", { hasText: "stopped" }).first().waitFor();
    await stage.gate("disks", "POST");
    child.kill("SIGTERM");
    assert.equal(await over, 0);
    await window.close();
  });

  it("a run grows on its page, and ends with its value", async () => {
    await stage.write("src/live.rs", "// A file to read.\n");
    await stage.say(say([text("I look at it first."), call("read_file", { path: "src/live.rs" })], { when: { contains: ["live change"] } }));
    await stage.say(say([call("structured_output", { summary: "Seen live.", score: 50 })],
      { when: { contains: ["live change"] }, points: [{ after: 0, act: { type: "gate", name: "live" } }] }));
    const overview = await Window.open(browser, url);
    await overview.goto("/");
    const child = stage.start("airtight", ["run", "--json-schema", "review", "--mode", "tool", "Review the live change."]);
    const over = new Promise((done) => child.once("exit", done));
    await stage.gate("live", "GET");
    await overview.page.locator("section", { hasText: "Running now" }).locator("a.cell-main", { hasText: "review" }).first().waitFor();
    const address = await overview.page.locator("section[aria-labelledby=running] a.cell-main").first().getAttribute("href");
    const window = await Window.open(browser, url);
    await window.goto(address);
    await window.page.locator(".activity li", { hasText: "I look at it first." }).waitFor();
    await window.page.locator(".activity li", { hasText: "A file to read." }).waitFor();
    assert.ok((await window.text()).includes("running"));
    await window.shoot("run-live", shots);
    await window.check();
    const plain = await Window.open(browser, url, "plain");
    await plain.goto(address);
    assert.equal(await plain.page.locator("meta[http-equiv=refresh]").count(), 1);
    await plain.close();
    await stage.gate("live", "POST");
    await window.page.locator("h2", { hasText: "Accepted value" }).waitFor();
    assert.ok((await window.text()).includes("Seen live."));
    assert.equal(await over, 0);
    await overview.page.locator(".feed li", { hasText: "review: met" }).first().waitFor();
    await overview.check();
    await window.check();
    await window.close();
    await overview.close();
  });

  it("a page that nobody sees has no stream, and is fresh when it is seen again", async () => {
    const window = await Window.open(browser, url);
    await window.page.addInitScript(() => {
      window.streams = [];
      const Real = window.EventSource;
      window.EventSource = class extends Real {
        constructor(...all) { super(...all); window.streams.push(this); }
      };
      let hidden = false;
      Object.defineProperty(Document.prototype, "hidden", { get: () => hidden });
      window.hide = (value) => { hidden = value; document.dispatchEvent(new Event("visibilitychange")); };
    });
    await window.goto("/runs");
    const closed = () => window.page.evaluate(() => window.streams.map((it) => it.readyState === EventSource.CLOSED));
    assert.deepEqual(await closed(), [false]);
    await window.page.evaluate(() => window.hide(true));
    assert.deepEqual(await closed(), [true]);
    const reading = window.page.waitForRequest((it) => it.url().endsWith("/runs") && it.resourceType() === "fetch");
    await window.page.evaluate(() => window.hide(false));
    await reading;
    assert.deepEqual(await closed(), [true, false]);
    await window.check();
    await window.close();
  });

  it("a list keeps the focus and what was typed", async () => {
    const window = await Window.open(browser, url);
    await window.goto("/runs");
    await window.page.focus("#f-q");
    await window.page.keyboard.type("half a wo");
    await stage.say(say([text({ topic: "praise", urgent: false, reply: "Thanks." })], { when: { contains: ["Sort while typing"] } }));
    await stage.airtight(["run", "--json-schema", "triage", "Sort while typing."]);
    // Longer than the script waits before it reads a page again.
    await window.page.waitForTimeout(2500);
    assert.equal(await window.page.inputValue("#f-q"), "half a wo");
    assert.equal(await window.page.evaluate(() => document.activeElement.id), "f-q");
    await window.close();
  });
});

describe("naughty strings", () => {
  it("are inert wherever they stand", async () => {
    const window = await Window.open(browser, url);
    await window.logIn();
    await window.goto("/memories");
    await window.page.fill("#m-service", "<img src=x onerror=alert(1)>");
    await window.page.fill("#m-observation", NAUGHTY.replaceAll("\u0000", "").slice(0, 900));
    await window.page.click("text=Remember");
    const runs = await window.page.request.get("/runs?contract=triage&q=sonnet");
    const links = [...(await runs.text()).matchAll(/href="(\/runs\/[0-9a-f-]{36})"/g)].map((it) => it[1]);
    const sessions = await (await window.page.request.get("/sessions")).text();
    const chains = [...sessions.matchAll(/href="(\/sessions\/[0-9a-f-]{36})"/g)].map((it) => it[1]);
    const services = ["/services/backup", "/events?service=%3Cscript%3Ealert(1)%3C/script%3E", `/runs?q=${encodeURIComponent(NAUGHTY)}`];
    const pages = ["/", "/events", "/memories", "/services", "/queue", ...services, ...new Set([...links.slice(0, 6), ...chains.slice(0, 3)])];
    for (const path of pages) {
      await window.goto(path);
      const folded = window.page.locator("main details:not([open]) > summary");
      while ((await folded.count()) > 0) await folded.first().click();
      await window.check();
    }
    await window.shoot("naughty", shots);
    const flagged = await first(window, "/queue", "td a.cell-main");
    await window.goto(flagged);
    await window.check();
    await window.close();
  });

  it("are plain text where all of a text is shown", async () => {
    const window = await Window.open(browser, url);
    const found = await first(window, "/runs?contract=triage&q=sonnet", "td a.cell-main");
    const answer = await window.page.request.get(`${found}/text/output`);
    if (answer.status() === 200) {
      assert.equal(answer.headers()["content-type"], "text/plain; charset=utf-8");
      assert.equal(answer.headers()["x-content-type-options"], "nosniff");
    } else assert.equal(answer.status(), 404);
    const prompt = await window.page.request.get(`${found}/text/prompt`);
    assert.equal(prompt.headers()["content-type"], "text/plain; charset=utf-8");
    await window.close();
  });
});
