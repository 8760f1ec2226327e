// What the pages do on their own: rows of a run that goes on, and lists that stay fresh. Everything is
// rendered by the server; without this script the same pages are there, and are read again by hand.
(() => {
  "use strict";

  const main = document.querySelector("main");
  if (!main || !window.EventSource) return;

  const pulse = () => document.querySelector(".pulse");
  const say = (state, text) => {
    const mark = pulse();
    if (!mark) return;
    mark.dataset.state = state;
    mark.textContent = text;
  };

  // Runs `work` at once, and once more if it was asked for meanwhile; never two at a time.
  const oneAtATime = (work) => {
    let running = false;
    let again = false;
    const go = async () => {
      if (running) { again = true; return; }
      running = true;
      try { await work(); } catch { say("lost", "not connected"); }
      running = false;
      if (again) { again = false; go(); }
    };
    return go;
  };

  // Keeps a stream open while somebody can see the page: a browser has six connections to a server for all
  // its tabs together. `open` makes the stream; `again` runs when the page is seen again.
  const whileSeen = (open, again) => {
    let source = document.hidden ? null : open();
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) {
        source?.close();
        source = null;
      } else if (!source) {
        source = open();
        again();
      }
    });
  };

  const read = async (url) => {
    const answer = await fetch(url, { headers: { Accept: "text/html" }, credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.text();
  };

  // ---- a value that somebody types ----

  const typed = document.querySelector("textarea[data-judged]");
  if (typed && !typed.readOnly) {
    // The same page that the button gets; only what it says of the value is shown.
    const judge = oneAtATime(async () => {
      const body = new URLSearchParams(new FormData(typed.form));
      body.set("do", "judge");
      const answer = await fetch(typed.form.action, { method: "POST", body, credentials: "same-origin" });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const said = page.querySelector("[data-verdict]");
      if (said) document.querySelector("[data-verdict]").replaceChildren(...[...said.childNodes].map((node) => document.importNode(node, true)));
    });
    let pause = null;
    typed.addEventListener("input", () => { clearTimeout(pause); pause = setTimeout(judge, 400); });
  }

  // ---- a run that goes on ----

  const activity = document.querySelector("[data-activity]");
  if (activity) {
    const run = encodeURIComponent(activity.dataset.activity);
    const box = activity.closest(".activity-box") || activity;
    const last = () => Number(activity.dataset.last || 0);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      location.reload();
    };
    const add = (rows) => {
      const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
      activity.querySelector("[data-waiting]")?.remove();
      for (const row of rows) {
        if (Number(row.dataset.number) <= last()) continue;
        activity.append(document.importNode(row, true));
        activity.dataset.last = row.dataset.number;
      }
      if (atEnd) box.scrollTop = box.scrollHeight;
    };
    // What is being said stands in one place, and is replaced as it grows.
    const grow = (next) => {
      const shown = document.querySelector("[data-growing]");
      if (shown && next && shown.innerHTML !== next.innerHTML) shown.replaceWith(document.importNode(next, true));
    };
    // The server renders; what is said in the stream only tells that there is more to read.
    const fetchRows = oneAtATime(async () => {
      for (;;) {
        const text = await read(`/runs/${run}/activity?after=${last()}`);
        const page = new DOMParser().parseFromString(text, "text/html");
        const answer = page.querySelector("ol");
        grow(page.querySelector("[data-growing]"));
        const rows = answer.querySelectorAll("li[data-number]");
        if (rows.length > 0) { add(rows); continue; }
        if (answer.dataset.over !== undefined) end();
        return;
      }
    });
    box.scrollTop = box.scrollHeight;
    whileSeen(() => {
      const source = new EventSource(`/api/v1/runs/${run}/events?after=${last()}`);
      source.onopen = () => say("live", "live");
      source.onmessage = fetchRows;
      for (const name of ["gap", "state"]) source.addEventListener(name, fetchRows);
      source.addEventListener("end", () => { source.close(); end(); });
      source.onerror = () => say("lost", "connecting…");
      return source;
    }, fetchRows);
    // A stream that cannot be had must not leave the page behind, and it does not tell of every word.
    setInterval(() => { if (!isOver && !document.hidden) fetchRows(); }, 1000);
    return;
  }

  // ---- pages that stay fresh ----

  if (main.dataset.fresh === undefined) return;

  const PACE_MS = 1000;
  const POLL_MS = 10000;

  // Where the focus is, so that it can be found again in what replaces it.
  const mark = (element) => {
    if (!element || !main.contains(element)) return null;
    if (element.id) return `#${CSS.escape(element.id)}`;
    if (element.getAttribute("href")) return `a[href="${CSS.escape(element.getAttribute("href"))}"]`;
    if (element.name) return `[name="${CSS.escape(element.name)}"]`;
    return null;
  };

  // Somebody who types must not lose what was typed.
  const isTyping = () => {
    const element = document.activeElement;
    return Boolean(element && main.contains(element) && element.matches("input, textarea, select"));
  };

  let shown = null;
  const refresh = oneAtATime(async () => {
    const page = new DOMParser().parseFromString(await read(location.href), "text/html");
    const next = page.querySelector("main");
    if (!next || isTyping()) return;
    const text = next.innerHTML;
    if (text === shown) return;
    const focus = mark(document.activeElement);
    const open = [...main.querySelectorAll("details[id][open]")].map((it) => it.id);
    main.replaceChildren(...[...next.childNodes].map((node) => document.importNode(node, true)));
    for (const id of open) main.querySelector(`#${CSS.escape(id)}`)?.setAttribute("open", "");
    if (focus) main.querySelector(focus)?.focus({ preventScroll: true });
    const count = (root) => root.querySelector(".menu .count");
    const [old, fresh] = [count(document), count(page)];
    if (old && fresh) old.textContent = fresh.textContent;
    shown = text;
    say(live ? "live" : "lost", live ? "live" : "every 10 s");
  });

  let live = false;
  let timer = null;
  const soon = () => {
    if (timer) return;
    timer = setTimeout(() => { timer = null; refresh(); }, PACE_MS);
  };
  whileSeen(() => {
    const source = new EventSource("/api/v1/events/stream");
    source.onopen = () => { live = true; say("live", "live"); };
    source.onmessage = soon;
    for (const name of ["run", "watch", "state", "gap"]) source.addEventListener(name, soon);
    source.onerror = () => { live = false; say("lost", "every 10 s"); };
    return source;
  }, refresh);
  setInterval(() => { if (!document.hidden) refresh(); }, POLL_MS);
})();
