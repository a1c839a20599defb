"use strict";
(async () => {
  const PAGE = 25;
  const form = document.getElementById("filter"), list = document.getElementById("rows");
  const count = document.getElementById("count"), more = document.getElementById("more");
  const fields = ["stage", "reason", "source"];

  const data = await unpack("ledger-rows");
  // All texts of a row in lower case, once: a search then is a search in one string.
  for (const row of data.rows) {
    const texts = [row.id, `${row.source}:${row.row}`, row.problem.join(""), row.answer.join(""), ...row.evidence.flat()];
    for (const other of row.beside) texts.push(other.name, other.id, other.problem.join(""), other.answer);
    row.all = texts.join("\n").toLowerCase();
  }
  let found = [], shown = 0;

  // What a reader said of rows, by id and digest, true for fit: kept by the browser between visits where it allows that.
  const KEPT = "compass row labels", marks = new Map();
  const save = document.getElementById("save");
  try { for (const [key, fit] of JSON.parse(localStorage.getItem(KEPT) || "[]")) marks.set(key, fit); } catch { /* no storage: marks last as long as the page */ }
  const keyOf = (row) => `${row.id} ${row.digest}`;
  const own = () => { const all = new Map(data.rows.map((row) => [keyOf(row), row])); return [...all].filter(([key]) => marks.has(key)); };
  function mark(row, fit) {
    if (marks.get(keyOf(row)) === fit) marks.delete(keyOf(row)); else marks.set(keyOf(row), fit);
    try { localStorage.setItem(KEPT, JSON.stringify([...marks])); } catch { /* as above */ }
    showMarks();
  }
  function showMarks() {
    for (const button of list.querySelectorAll(".judge button")) {
      const known = marks.has(button.dataset.row);
      button.setAttribute("aria-pressed", String(known && String(marks.get(button.dataset.row)) === button.value));
    }
    const many = own().length;
    save.hidden = !many;
    save.textContent = `Save ${many.toLocaleString("en")} label${many === 1 ? "" : "s"}`;
  }
  function judge(row) {
    const buttons = [["true", "fit to train on"], ["false", "unfit"], ["null", "cannot tell"]].map(([value, text]) => {
      const button = el("button", "", text);
      Object.assign(button, { type: "button", value });
      button.dataset.row = keyOf(row);
      button.addEventListener("click", () => mark(row, JSON.parse(value)));
      return button;
    });
    return el("div", "judge screen", ...buttons);
  }
  save.addEventListener("click", () => {
    const lines = own().map(([key, row]) => JSON.stringify({ id: row.id, digest: row.digest, right: marks.get(key), by: "page" }) + "\n");
    const link = el("a", "");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
    link.download = "labels.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  // A text with its marks: every second part is one.
  const marked = (tag, name, parts) => el(tag, name, ...parts.map((part, place) => part && place % 2 ? el("mark", "", ...visible(part)) : visible(part)).flat());

  function column(title, problem, answer) {
    const gold = el("div", "gold", el("span", "", "gold "), answer.length ? marked("span", "answer", answer) : "none");
    return el("div", "", el("h3", "", ...visible(title)), marked("div", "text", problem), gold);
  }
  function card(row) {
    const doubtful = row.stage.startsWith("kept");
    const head = el("header", "", el("b", "", row.reason), el("span", "", doubtful ? row.stage : `dropped by ${row.stage}`),
      el("span", "", ...visible(`${row.source}:${row.row}`)), el("code", "", ...visible(row.id)));
    const texts = el("div", row.beside.length ? "texts two shared" : "texts");
    texts.append(column(row.beside.length ? "this problem" : "problem", row.problem, row.answer.join("") ? row.answer : []));
    for (const other of row.beside) {
      const title = `${other.kind === "twin" ? "its twin" : "the benchmark's item"}: ${other.name}`;
      texts.append(column(title, other.problem, other.answer ? [other.answer] : []));
    }
    const facts = row.evidence.flatMap(([name, value]) => [el("dt", "", name.replaceAll("_", " ")), el("dd", "", ...visible(value))]);
    return el("article", doubtful ? "item doubtful" : "item", head, texts, el("dl", "", ...facts), judge(row));
  }

  function show() {
    const fragment = document.createDocumentFragment();
    for (const row of found.slice(shown, shown + PAGE)) fragment.append(card(row));
    shown = Math.min(shown + PAGE, found.length);
    list.append(fragment);
    showMarks();
    more.hidden = shown === found.length;
    more.textContent = `Show ${Math.min(PAGE, found.length - shown)} more of ${(found.length - shown).toLocaleString("en")}`;
  }
  function totals(chosen, but) {
    const sums = new Map();
    for (const [stage, reason, source, rows] of data.counts) {
      const group = { stage, reason, source };
      if (fields.every((name) => name === but || !chosen[name] || chosen[name] === group[name])) {
        sums.set(group[but], (sums.get(group[but]) || 0) + rows);
      }
    }
    return sums;
  }
  // What else can be chosen, each with its rows under the other choices.
  function offer(chosen) {
    for (const name of fields) {
      const sums = [...totals(chosen, name)], select = form.elements[name];
      if (name !== "stage") sums.sort((one, other) => other[1] - one[1]);
      if (chosen[name] && !sums.some(([value]) => value === chosen[name])) sums.push([chosen[name], 0]);
      const options = sums.map(([value, rows]) => new Option(`${value} (${rows.toLocaleString("en")})`, value));
      select.replaceChildren(new Option(`any ${name}`, ""), ...options);
      select.value = chosen[name];
    }
  }
  function update() {
    const chosen = Object.fromEntries(fields.map((name) => [name, form.elements[name].value]));
    const words = form.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    found = data.rows.filter((row) =>
      fields.every((name) => !chosen[name] || row[name] === chosen[name]) && words.every((word) => row.all.includes(word)));
    const rows = [...totals(chosen, "stage")].filter(([stage]) => !chosen.stage || stage === chosen.stage);
    const dropped = rows.reduce((sum, [stage, here]) => sum + (stage.startsWith("kept") ? 0 : here), 0);
    const doubtful = rows.reduce((sum, [stage, here]) => sum + (stage.startsWith("kept") ? here : 0), 0);
    const several = (many, what) => `${many.toLocaleString("en")} ${what}${many === 1 ? "" : "s"}`;
    const said = [several(dropped, "dropped row") + (doubtful ? ` and ${several(doubtful, "doubt")} about kept rows` : "")];
    said.push(`${found.length.toLocaleString("en")} of them to read here` + (words.length ? " with these words" : ""));
    count.textContent = `${said.join("; ")}.`;
    offer(chosen);
    list.replaceChildren();
    shown = 0;
    show();
  }

  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(update));
  more.addEventListener("click", show);
  for (const button of document.querySelectorAll("button.choose")) {
    button.addEventListener("click", () => {
      form.reset();
      offer({ stage: "", reason: "", source: "" });
      for (const name of fields) form.elements[name].value = button.dataset[name] || "";
      update();
      document.getElementById("browse").scrollIntoView();
    });
  }
  // Printed, a page holds every row that was found, up to a number that a person would print.
  window.addEventListener("beforeprint", () => { while (shown < Math.min(found.length, 200)) show(); });
  offer({ stage: "", reason: "", source: "" });
  form.hidden = false;
  update();
})().catch((error) => { document.getElementById("count").textContent = `The rows cannot be read: ${error.message}.`; });
