// Debian's Chromium, and what every page must hold to.
import assert from "node:assert/strict";
import { readFile, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { TOKEN } from "./stage.mjs";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// How a page is looked at.
export const LOOKS = {
  desktop: { viewport: { width: 1280, height: 900 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  plain: { viewport: { width: 1280, height: 900 }, javaScriptEnabled: false },
};

export const launch = () => chromium.launch({ executablePath: "/usr/bin/chromium", headless: true, args: FLAGS });

// A browser window that notes what must not happen: dialogs, errors, requests to elsewhere.
export class Window {
  static async open(browser, url, look = "desktop") {
    const context = await browser.newContext({ ...LOOKS[look], baseURL: url });
    const window = new Window();
    Object.assign(window, { context, look, url, troubles: [], page: await context.newPage() });
    const trouble = (what) => window.troubles.push(what);
    window.page.on("dialog", (dialog) => { trouble(`dialog: ${dialog.message()}`); dialog.dismiss(); });
    window.page.on("pageerror", (error) => trouble(`error: ${error.message}`));
    window.page.on("console", (message) => {
      if (message.type() === "error" && !window.expects?.(message.text())) trouble(`console: ${message.text()}`);
    });
    window.page.on("request", (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith("data:")) trouble(`request: ${request.url()}`);
    });
    return window;
  }

  async goto(path) {
    const answer = await this.page.goto(path, { waitUntil: "load" });
    return answer.status();
  }

  async logIn() {
    await this.goto("/login");
    await this.page.fill("#token", TOKEN);
    await this.page.click("button[type=submit]");
    await this.page.waitForURL(`${this.url}/`);
  }

  text() { return this.page.locator("main").innerText(); }

  async shoot(name, folder) {
    await mkdir(folder, { recursive: true });
    await this.page.screenshot({ path: join(folder, `${name}-${this.look}.png`), fullPage: true });
  }

  // No serious finding of axe-core, nothing wider than the window, nothing that must not happen.
  async check() {
    if (this.look !== "plain") {
      // The policy of the pages forbids inline scripts, as it should; this one is ours.
      await this.page.evaluate(axe);
      const found = await this.page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const bad = found.violations.filter((it) => ["serious", "critical"].includes(it.impact));
      const told = bad.map((it) => `${it.id}: ${it.nodes.map((node) => `${node.target} ${node.failureSummary}`).slice(0, 3).join(" | ")}`);
      assert.deepEqual(told, [], `axe on ${this.page.url()} (${this.look})`);
      const excess = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(excess <= 0, `${this.page.url()} is ${excess} px too wide (${this.look})`);
      assert.equal(await this.page.evaluate(() => window.__owned), undefined, "a script of a model ran");
    }
    assert.deepEqual(this.troubles, [], `${this.page.url()} (${this.look})`);
  }

  close() { return this.context.close(); }
}
