"use strict";
// The viewer of the report. It builds elements by `compass/page/page.js`.
(() => {
  const root = document.getElementById("viewer");
  const PAGE = 12;                 // entries shown at a time
  const HALF = 0.5;                // share of right samples from which a problem counts as solved
  const cache = new Map();
  let index;

  function unpacked(name) {
    if (!cache.has(name)) cache.set(name, unpack(name));
    return cache.get(name);
  }

  function choice(label, options, changed, name) {
    const select = el("select");
    for (const [value, text] of options) select.add(new Option(text, value));
    select.name = name;
    select.addEventListener("change", changed);
    return [el("label", "", label, select), select];
  }

  function search(changed) {
    const input = el("input");
    input.type = "search";
    input.name = "words";
    input.placeholder = "words, or an id";
    let waiting;
    input.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(changed, 150); });
    return [el("label", "words", "words", input), input];
  }

  const all = (name) => ["", `all ${name}`];
  const distinct = (values) => [...new Set(values)];
  const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)}%` : "-");
  const holds = (text, words) => words.every((word) => text.includes(word));
  const split = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

  function listing(count, more) {
    const list = el("div", "list");
    const button = el("button", "more", "show more");
    button.addEventListener("click", more);
    return { list, count, button, box: el("div", "", count, list, button) };
  }

  // Entries that open: `head` is always seen, `body` is made when it is opened.
  function entry(head, body) {
    const button = el("button", "", ...head);
    const box = el("div", "item", button);
    button.setAttribute("aria-expanded", "false");
    let opened = null;
    box.open = async (want = true) => {
      if (want === (opened !== null)) return;
      button.setAttribute("aria-expanded", String(want));
      if (!want) { opened.remove(); opened = null; return; }
      opened = el("div", "open", "…");
      box.append(opened);
      try { opened.replaceChildren(...(await body())); }
      catch (error) { opened.replaceChildren(el("p", "error", `This part of the page cannot be read: ${error.message}`)); }
    };
    button.addEventListener("click", () => box.open(opened === null));
    return box;
  }

  // ---- benchmark problems

  const share = (tally) => (tally && tally[0] ? tally[1] / tally[0] : tally && tally[4] === 1 ? 1 : 0);

  function fate(item, before, after) {
    const [one, two] = [item[5][before], item[5][after]];
    if (!one || !two) return "";
    return (share(one) >= HALF ? "1" : "0") + (share(two) >= HALF ? "1" : "0");
  }

  function cell(name, tally) {
    if (!tally) return "";
    const [samples, right] = tally;
    const made = el("span", "cell", samples ? `${name} ${right}/${samples}` : `${name} greedy ${tally[4] === 1 ? "right" : "wrong"}`);
    made.style.background = `hsl(${210 * share(tally)} ${share(tally) > 0.3 && share(tally) < 0.7 ? 45 : 70}% 78%)`;
    return made;
  }

  function problemView() {
    const items = index.items;
    const models = index.models;
    const update = () => { shown = PAGE; draw(); };
    const [byBenchmark, benchmark] = choice("benchmark", [all("benchmarks"), ...distinct(items.map((i) => i[0])).map((n) => [n, n])], update, "benchmark");
    const [byLevel, level] = choice("level", [all("levels"), ...distinct(items.map((i) => i[4])).filter(Boolean).sort().map((n) => [n, n])], update, "level");
    byLevel.hidden = level.options.length < 3;  // nothing to choose from
    const numbered = models.map((model, number) => [String(number), model]);
    const [byBefore, before] = choice("before", numbered, update, "before");
    const [byAfter, after] = choice("after", numbered, update, "after");
    after.value = String(models.length - 1);
    const fates = [["", "whatever happened"], ["01", "gained"], ["10", "lost"], ["11", "solved by both"], ["00", "by neither"], ["form", "strict and lenient differ"], ["cut", "some cut off"], ["similar", "resembles a training row"]];
    const [byFate, wanted] = choice("before → after", fates, update, "fate");
    const orders = [["", "as evaluated"], ["gain", "largest gain"], ["loss", "largest loss"], ["hard", "hardest"]];
    const [byOrder, order] = choice("order", orders, update, "order");
    const [byWords, words] = search(update);
    const texts = items.map((item) => [item[0], item[1], item[2], item[3]].join(" ").toLowerCase());
    let shown = PAGE;
    const count = el("p", "about count");
    const view = listing(count, () => { shown += PAGE; draw(); });
    const boxes = new Map();

    function fits(item, number, asked) {
      const [one, two] = [Number(before.value), Number(after.value)];
      if (benchmark.value && item[0] !== benchmark.value) return false;
      if (level.value && item[4] !== level.value) return false;
      const tallies = item[5].filter(Boolean);
      const kinds = { form: () => tallies.some((t) => t[2] !== t[1]), cut: () => tallies.some((t) => t[3] > 0), similar: () => item[7].length > 0 };
      if (wanted.value && !(kinds[wanted.value] ? kinds[wanted.value]() : fate(item, one, two) === wanted.value)) return false;
      return holds(texts[number], asked);
    }

    function box(number) {
      if (boxes.has(number)) return boxes.get(number);
      const item = items[number];
      const about = [item[0], item[4] && item[4] !== item[0] ? `level ${item[4]}` : "", item[1]].filter(Boolean).join(" · ");
      const text = el("span", "text", ...visible(item[2] || "(the problem's text was not kept)"));
      text.dir = "auto";
      const head = [el("span", "about", ...visible(about)), text, el("span", "cells", ...models.map((model, n) => cell(model, item[5][n])))];
      const made = entry(head, () => problemBody(item, number));
      boxes.set(number, made);
      return made;
    }

    function draw() {
      const asked = split(words.value);
      const [one, two] = [Number(before.value), Number(after.value)];
      const gain = (n) => share(items[n][5][two]) - share(items[n][5][one]);
      const total = (n) => items[n][5].reduce((sum, tally) => sum + share(tally), 0);
      const found = items.map((_, n) => n).filter((n) => fits(items[n], n, asked));
      const keys = { gain: (n) => -gain(n), loss: gain, hard: total };
      if (order.value) found.sort((a, b) => keys[order.value](a) - keys[order.value](b) || a - b);
      count.textContent = `${found.length.toLocaleString("en")} of ${items.length.toLocaleString("en")} problems. ${index.rule}`;
      view.list.replaceChildren(...found.slice(0, shown).map(box));
      view.button.hidden = found.length <= shown;
    }

    draw();
    const filters = el("div", "filters", byBenchmark, byLevel, models.length > 1 ? byBefore : null, models.length > 1 ? byAfter : null, byFate, byOrder, byWords);
    return { box: el("div", "", filters, view.box), show: (benchmarkName, id) => {
      benchmark.value = level.value = wanted.value = order.value = "";
      words.value = id;
      update();
      const number = items.findIndex((item) => item[0] === benchmarkName && item[1] === id);
      if (number >= 0) { box(number).open(); box(number).scrollIntoView({ block: "start" }); }
    } };
  }

  async function problemBody(item, number) {
    const parts = drawProblem(item[2], item[3] || "not kept");
    if (item[7].length) parts.push(el("p", "about", "Trained rows that resemble it:"), ...item[7].map(similarRow));
    const responses = item[6] < 0 ? [] : (await unpacked(`viewer-${item[6]}`))[number] || [];
    const columns = index.models.map((model, n) => {
      const tally = item[5][n];
      if (!tally) return null;
      const own = responses.filter((response) => response[0] === n);
      const greedy = tally[4] < 0 ? "" : `; greedy ${tally[4] ? "right" : "wrong"}`;
      const lenient = tally[2] === tally[1] ? "" : `, ${tally[2]} leniently`;
      const line = `${tally[1]} of ${tally[0]} samples right${lenient}${greedy}; ${own.length} shown`;
      return el("div", "", el("h4", "", ...visible(model)), el("p", "about", line), ...own.map(([, , , shown]) => drawResponse(shown)));
    });
    return [...parts, el("div", "columns", ...columns.filter(Boolean))];
  }

  // A trained row that resembles a benchmark problem: its text, and where training used it, with links to the rollouts that are kept.
  function similarRow(id) {
    const row = index.trained[id];
    if (!row) return el("p", "about", id);
    const [name, text, gold, stages] = row;
    const used = stages.map(([stage, steps, kept]) => {
      const links = kept.flatMap((step) => {
        const link = el("a", "", `iteration ${step}`);
        link.href = `#rollouts=${encodeURIComponent(`${stage}:${step}:${id}`)}`;
        return [" · ", link];
      });
      return el("p", "about", `${stage}: trained on in ${steps.length} iteration${steps.length > 1 ? "s" : ""} (${steps.join(", ")})`, kept.length ? "; rollouts" : "", ...links);
    });
    const body = el("div", "similar", el("p", "about", ...visible(`${name} · ${id} · gold ${gold || "none"}`)), el("p", "", ...visible(text)), ...used);
    if (!stages.length) body.append(el("p", "about", "no recorded update used it"));
    return body;
  }

  // ---- training rollouts

  function rolloutView() {
    const steps = index.rollouts.steps;
    const at = Object.fromEntries(index.rollouts.columns.map((name, n) => [name, n]));
    const names = steps.map(([stage, step, what], n) => [String(n), `${stage}, iteration ${step}${what ? ` (samples of the guard ${what})` : ""}`]);
    const update = () => { shown = PAGE; draw(); };
    const [byStep, chosen] = choice("iteration", names, update, "iteration");
    const [byRight, right] = choice("verdict", [["", "all responses"], ["right", "right"], ["wrong", "wrong"], ["cut", "cut off"], ["loop", "ends in a loop"], ["unused", "left out of the update"]], update, "verdict");
    const [byLevel, level] = choice("level", [all("levels")], update, "level");
    const [byWords, words] = search(update);
    const count = el("p", "about count");
    let shown = PAGE;
    const view = listing(count, () => { shown += PAGE; draw(); });
    const kinds = {
      right: (row) => row[at.right], wrong: (row) => !row[at.right], cut: (row) => row[at.cut_off],
      loop: (row) => row[at.loop], unused: (row) => !row[at.used],
    };

    async function draw() {
      const [, , , total, rightOnes, used, held, groups, chunk] = steps[Number(chosen.value)];
      const asked = chosen.value;
      let data;
      try { data = await unpacked(`viewer-${chunk}`); }
      catch (error) { count.textContent = `These rollouts cannot be read: ${error.message}`; return; }
      if (chosen.value !== asked) return;                       // another iteration was chosen meanwhile
      const levels = distinct(data.rows.map((row) => String(row[at.level]))).sort();
      const kept = levels.includes(level.value) ? level.value : "";
      level.replaceChildren(...[all("levels"), ...levels.map((n) => [n, n])].map(([value, text]) => new Option(text, value)));
      level.value = kept;
      const wordsAsked = split(words.value);
      const found = new Map();
      for (const row of data.rows) {
        if (right.value && !kinds[right.value](row)) continue;
        if (level.value && String(row[at.level]) !== level.value) continue;
        if (!holds(`${row[at.id]} ${data.prompts[row[at.id]]} ${row[at.shown].text}`.toLowerCase(), wordsAsked)) continue;
        if (!found.has(row[at.group])) found.set(row[at.group], []);
        found.get(row[at.group]).push(row);
      }
      const responses = [...found.values()].reduce((sum, rows) => sum + rows.length, 0);
      count.textContent = `${responses.toLocaleString("en")} responses in ${found.size} groups are shown. The iteration sampled ${total.toLocaleString("en")} in ${groups} groups (${held} here): ` +
        `${percent(rightOnes, total)} right, ${percent(used, total)} used by the update. ${index.rollouts.rule}`;
      view.list.replaceChildren(...[...found.values()].slice(0, shown).map((rows) => group(rows, data)));
      view.button.hidden = found.size <= shown;
    }

    function group(rows, data) {
      const [first] = rows;
      const solved = rows.filter((row) => row[at.right]).length;
      const text = el("span", "text", ...visible(data.prompts[first[at.id]]));
      text.dir = "auto";
      const fate = first[at.used] ? "" : " · left out of the update";
      const about = `level ${first[at.level]} · ${first[at.id]} · ${solved} of ${rows.length} shown right${fate}`;
      return entry([el("span", "about", ...visible(about)), text], async () =>
        [...drawProblem(data.prompts[first[at.id]], String(first[at.gold])), el("div", "columns", ...rows.map((row) => drawResponse(row[at.shown])))]);
    }

    draw();
    return { box: el("div", "", el("div", "filters", byStep, byRight, byLevel, byWords), view.box), show: (stage, step, id = "") => {
      const number = steps.findIndex(([name, iteration, what]) => name === stage && String(iteration) === step && !what);
      if (number >= 0) { chosen.value = String(number); right.value = level.value = ""; words.value = id; update(); }
    } };
  }

  // ---- the frame

  async function start() {
    index = await unpacked("viewer-index");
    const views = [];
    if (index.items.length) views.push(["problems", "Benchmark problems", problemView()]);
    if (index.rollouts.steps.length) views.push(["rollouts", "Training rollouts", rolloutView()]);
    const tabs = el("div", "tabs");
    const select = (wanted) => views.forEach(([name, , view], n) => {
      tabs.children[n].setAttribute("aria-selected", String(name === wanted));
      view.box.hidden = name !== wanted;
    });
    tabs.setAttribute("role", "tablist");
    for (const [name, text] of views) {
      const tab = el("button", "", text);
      tab.setAttribute("role", "tab");
      tab.addEventListener("click", () => select(name));
      tabs.append(tab);
    }
    root.append(tabs, ...views.map(([, , view]) => view.box));
    select(views[0][0]);

    // Addresses within the page: #problem=BENCHMARK:ID, and #rollouts=STAGE:ITERATION, to which points of curves link, or #rollouts=STAGE:ITERATION:ROW.
    const follow = () => {
      const [kind, rest] = decodeURIComponent(location.hash.slice(1)).split(/=(.*)/s);
      const view = views.find(([name]) => name === (kind === "problem" ? "problems" : kind));
      if (!view || !rest) return;
      const parts = kind === "rollouts" ? rest.split(":") : [rest.slice(0, rest.lastIndexOf(":")), rest.slice(rest.lastIndexOf(":") + 1)];
      select(view[0]);
      root.scrollIntoView();
      view[2].show(...parts);
    };
    addEventListener("hashchange", follow);
    follow();
  }

  start().catch((error) => root.append(el("p", "error", `The viewer cannot start: ${error.message}`)));
})();
