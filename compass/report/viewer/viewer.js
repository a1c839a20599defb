"use strict";
// The viewer of the report: benchmark problems with every model's responses, and the rollouts of training.
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

  const all = (name) => ["", `all ${name}`];
  const same = (values) => [...new Set(values)].map((value) => [value, value]);
  const percent = (part, whole) => (whole ? `${Math.round((100 * part) / whole)}%` : "-");
  const about = (...parts) => el("div", "note", ...visible(parts.filter(Boolean).join(" · ")));

  function title(text) {
    const made = el("span", "title", ...visible(text));
    made.dir = "auto";
    return made;
  }

  // An entry that opens: `head` is always seen, `body` is made when it is first opened.
  function entry(head, body) {
    const box = el("details", "item", el("summary", "", ...head));
    box.addEventListener("toggle", async () => {
      if (!box.open || box.children.length > 1) return;
      const opened = box.appendChild(el("div", "", "…"));
      try { opened.replaceChildren(...(await body())); }
      catch (error) { opened.replaceChildren(el("p", "error", `This part of the page cannot be read: ${error.message}`)); }
    });
    return box;
  }

  // ---- benchmark problems

  const share = (tally) => (tally && tally[0] ? tally[1] / tally[0] : tally && tally[4] === 1 ? 1 : 0);

  function fate(one, two) {
    return one && two ? (share(one) >= HALF ? "1" : "0") + (share(two) >= HALF ? "1" : "0") : "";
  }

  function cell(name, tally) {
    if (!tally) return "";
    const [samples, right] = tally;
    const made = el("span", "cell", samples ? `${name} ${right}/${samples}` : `${name} greedy ${tally[4] === 1 ? "right" : "wrong"}`);
    made.style.background = `hsl(${210 * share(tally)} ${share(tally) > 0.3 && share(tally) < 0.7 ? 45 : 70}% 78%)`;
    return made;
  }

  function problemView() {
    const { items, models } = index;
    const texts = items.map((item) => item.slice(0, 4).join(" ").toLowerCase());
    const numbered = models.map((model, number) => [String(number), model]);
    const levels = same(items.map((item) => item[4]).filter(Boolean).sort());
    const form = filterBar({
      benchmark: ["benchmark", [all("benchmarks"), ...same(items.map((item) => item[0]))]],
      level: ["level", [all("levels"), ...levels]],
      before: ["before", numbered],
      after: ["after", numbered, String(models.length - 1)],
      fate: ["before → after", [["", "whatever happened"], ["01", "gained"], ["10", "lost"], ["11", "solved by both"], ["00", "by neither"], ["form", "strict and lenient differ"], ["cut", "some cut off"], ["unread", "some without an answer that could be read"], ["similar", "resembles a training row"]]],
      order: ["order", [["", "as evaluated"], ["gain", "largest gain"], ["loss", "largest loss"], ["hard", "hardest"]]],
    }, "words, or an id", draw);
    const hide = (name) => { form.elements[name].parentElement.hidden = true; };
    if (levels.length < 2) hide("level");  // nothing to choose from
    if (models.length < 2) ["before", "after"].forEach(hide);
    const view = listing(PAGE);
    const boxes = new Map();

    function fits(item, number, wanted) {
      if (wanted.benchmark && item[0] !== wanted.benchmark) return false;
      if (wanted.level && item[4] !== wanted.level) return false;
      const tallies = item[5].filter(Boolean);
      const kinds = { form: () => tallies.some((t) => t[2] !== t[1]), cut: () => tallies.some((t) => t[3] > 0), unread: () => tallies.some((t) => t[5] > 0), similar: () => item[7].length > 0 };
      const happened = () => fate(item[5][wanted.before], item[5][wanted.after]) === wanted.fate;
      return (!wanted.fate || (kinds[wanted.fate] || happened)()) && holds(texts[number], wanted.words);
    }

    function box(number) {
      if (!boxes.has(number)) {
        const item = items[number];
        const cells = el("span", "cells", ...models.map((model, n) => cell(model, item[5][n])));
        const head = [about(item[0], item[4] && item[4] !== item[0] ? `level ${item[4]}` : "", item[1]), title(item[2] || "(the problem's text was not kept)"), cells];
        boxes.set(number, entry(head, () => problemBody(item, number)));
      }
      return boxes.get(number);
    }

    function draw() {
      const wanted = asked(form);
      const gain = (n) => share(items[n][5][wanted.after]) - share(items[n][5][wanted.before]);
      const total = (n) => items[n][5].reduce((sum, tally) => sum + share(tally), 0);
      const found = items.map((_, n) => n).filter((n) => fits(items[n], n, wanted));
      const keys = { gain: (n) => -gain(n), loss: gain, hard: total };
      if (wanted.order) found.sort((a, b) => keys[wanted.order](a) - keys[wanted.order](b) || a - b);
      view.count.textContent = `${found.length.toLocaleString("en")} of ${items.length.toLocaleString("en")} problems. ${index.rule}`;
      view.show(found, box);
    }

    draw();
    return { box: el("div", "", form, view.box), show: (benchmark, id) => {
      form.reset();
      form.elements.words.value = id;
      draw();
      const number = items.findIndex((item) => item[0] === benchmark && item[1] === id);
      if (number >= 0) { box(number).open = true; box(number).scrollIntoView({ block: "start" }); }
    } };
  }

  async function problemBody(item, number) {
    const parts = drawProblem(item[2], item[3] || "not kept");
    if (item[7].length) parts.push(about("Trained rows that resemble it:"), ...item[7].map(similarRow));
    const responses = item[6] < 0 ? [] : (await unpacked(`viewer-${item[6]}`))[number] || [];
    const columns = index.models.map((model, n) => {
      const tally = item[5][n];
      if (!tally) return null;
      const own = responses.filter((response) => response[0] === n);
      const greedy = tally[4] < 0 ? "" : `; greedy ${tally[4] ? "right" : "wrong"}`;
      const lenient = tally[2] === tally[1] ? "" : `, ${tally[2]} leniently`;
      const line = `${tally[1]} of ${tally[0]} samples right${lenient}${greedy}; ${own.length} shown`;
      return el("div", "", el("h4", "", ...visible(model)), about(line), ...own.map(([, , , shown]) => drawResponse(shown)));
    });
    return [...parts, el("div", "columns", ...columns)];
  }

  // A trained row that resembles a benchmark problem: its text, and where training used it, with links to the rollouts that are kept.
  function similarRow(id) {
    const row = index.trained[id];
    if (!row) return about(id);
    const [name, text, gold, stages] = row;
    const used = stages.map(([stage, steps, kept]) => {
      const links = kept.flatMap((step) => {
        const link = el("a", "", `iteration ${step}`);
        link.href = `#rollouts=${encodeURIComponent(`${stage}:${step}:${id}`)}`;
        return [" · ", link];
      });
      return el("p", "note", `${stage}: trained on in ${steps.length} iteration${steps.length > 1 ? "s" : ""} (${steps.join(", ")})`, kept.length ? "; rollouts" : "", ...links);
    });
    return el("div", "similar", about(name, id, `gold ${gold || "none"}`), el("p", "", ...visible(text)), ...(stages.length ? used : [about("no recorded update used it")]));
  }

  // ---- training rollouts

  function rolloutView() {
    const { steps, rule } = index.rollouts;
    const at = Object.fromEntries(index.rollouts.columns.map((name, n) => [name, n]));
    const names = steps.map(([stage, step, what], n) => [String(n), `${stage}, iteration ${step}${what ? ` (samples of the guard ${what})` : ""}`]);
    const form = filterBar({
      iteration: ["iteration", names],
      verdict: ["verdict", [["", "all responses"], ["right", "right"], ["wrong", "wrong"], ["cut", "cut off"], ["loop", "ends in a loop"], ["unused", "left out of the update"]]],
      level: ["level", [all("levels")]],
    }, "words, or an id", draw);
    const view = listing(PAGE);
    const kinds = {
      "": () => true, right: (row) => row[at.right], wrong: (row) => !row[at.right], cut: (row) => row[at.cut_off],
      loop: (row) => row[at.loop], unused: (row) => !row[at.used],
    };

    async function draw() {
      const wanted = asked(form);
      const [, , , total, rightOnes, used, held, groups, chunk] = steps[Number(wanted.iteration)];
      let data;
      try { data = await unpacked(`viewer-${chunk}`); }
      catch (error) { view.count.textContent = `These rollouts cannot be read: ${error.message}`; return; }
      if (JSON.stringify(asked(form)) !== JSON.stringify(wanted)) return;    // something else was asked for meanwhile
      const levels = same(data.rows.map((row) => String(row[at.level])).sort());
      const level = levels.some(([value]) => value === wanted.level) ? wanted.level : "";
      offer(form.elements.level, [all("levels"), ...levels]);
      form.elements.level.value = level;
      const found = new Map();
      for (const row of data.rows) {
        if (!kinds[wanted.verdict](row) || (level && String(row[at.level]) !== level)) continue;
        if (!holds(`${row[at.id]} ${data.prompts[row[at.id]]} ${row[at.shown].text}`.toLowerCase(), wanted.words)) continue;
        if (!found.has(row[at.group])) found.set(row[at.group], []);
        found.get(row[at.group]).push(row);
      }
      const responses = [...found.values()].reduce((sum, rows) => sum + rows.length, 0);
      view.count.textContent = `${responses.toLocaleString("en")} responses in ${found.size} groups are shown. The iteration sampled ${total.toLocaleString("en")} in ${groups} groups (${held} here): ` +
        `${percent(rightOnes, total)} right, ${percent(used, total)} used by the update. ${rule}`;
      view.show([...found.values()], (rows) => group(rows, data.prompts[rows[0][at.id]]));
    }

    function group(rows, prompt) {
      const [first] = rows;
      const solved = rows.filter((row) => row[at.right]).length;
      const head = about(`level ${first[at.level]}`, first[at.id], `${solved} of ${rows.length} shown right`, first[at.used] ? "" : "left out of the update");
      return entry([head, title(prompt)], async () =>
        [...drawProblem(prompt, String(first[at.gold])), el("div", "columns", ...rows.map((row) => drawResponse(row[at.shown])))]);
    }

    draw();
    return { box: el("div", "", form, view.box), show: (stage, step, id = "") => {
      const number = steps.findIndex(([name, iteration, what]) => name === stage && String(iteration) === step && !what);
      if (number < 0) return;
      form.reset();
      form.elements.iteration.value = String(number);
      form.elements.words.value = id;
      draw();
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
