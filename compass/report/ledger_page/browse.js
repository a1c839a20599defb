"use strict";
// The ledger's page: its rows to read, filtered, and what a reader says of them.
(async () => {
  const root = document.getElementById("rows");
  const fields = ["stage", "reason", "source"];
  const several = (many, what) => `${many.toLocaleString("en")} ${what}${many === 1 ? "" : "s"}`;

  const data = await unpack("ledger-rows");
  // All texts of a row in lower case, once: a search then is a search in one string.
  for (const row of data.rows) {
    const texts = [row.id, `${row.source}:${row.row}`, row.problem.join(""), row.answer.join(""), ...row.evidence.flat()];
    for (const other of row.beside) texts.push(other.name, other.id, other.problem.join(""), other.answer);
    row.all = texts.join("\n").toLowerCase();
    row.key = `${row.id} ${row.digest}`;
  }

  // What a reader said of rows, by id and digest, true for fit: kept by the browser between visits where it allows that.
  const KEPT = "compass row labels", marks = new Map();
  try { for (const [key, fit] of JSON.parse(localStorage.getItem(KEPT) || "[]")) marks.set(key, fit); } catch { /* no storage: marks last as long as the page */ }
  const marked = () => [...new Map(data.rows.map((row) => [row.key, row])).values()].filter((row) => marks.has(row.key));
  const press = (button) => button.setAttribute("aria-pressed", String(marks.has(button.name) && String(marks.get(button.name)) === button.value));
  function mark({ key }, fit) {
    if (marks.get(key) === fit) marks.delete(key); else marks.set(key, fit);
    try { localStorage.setItem(KEPT, JSON.stringify([...marks])); } catch { /* as above */ }
    for (const button of root.querySelectorAll(".judge button")) press(button);
    showSave();
  }
  function judge(row) {
    const choices = [[true, "fit to train on"], [false, "unfit"], [null, "cannot tell"]];
    const buttons = choices.slice(row.can_be_kept ? 0 : 1).map(([fit, text]) => {
      const button = el("button", "", text);
      Object.assign(button, { type: "button", name: row.key, value: String(fit) });
      button.addEventListener("click", () => mark(row, fit));
      press(button);
      return button;
    });
    const why = row.can_be_kept ? [] : [el("span", "note", "a mark cannot keep this row")];
    return el("div", "judge screen", ...buttons, ...why);
  }
  const save = el("button", "save");
  save.type = "button";
  save.addEventListener("click", () => {
    const lines = marked().map((row) => JSON.stringify({ id: row.id, digest: row.digest, right: marks.get(row.key), by: "page" }) + "\n");
    const link = el("a", "");
    link.href = URL.createObjectURL(new Blob(lines, { type: "application/x-ndjson" }));
    link.download = "labels.jsonl";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  function showSave() {
    save.hidden = !marked().length;
    save.textContent = `Save ${several(marked().length, "label")}`;
  }

  // A text with its marks: every second part is one.
  const withMarks = (tag, name, parts) => el(tag, name, ...parts.map((part, place) => part && place % 2 ? el("mark", "", ...visible(part)) : visible(part)).flat());

  function column(title, problem, answer) {
    const gold = el("div", "gold", el("span", "note", "gold "), answer.length ? withMarks("span", "answer", answer) : "none");
    return el("div", "", el("h3", "", ...visible(title)), withMarks("div", "full", problem), gold);
  }
  function card(row) {
    const doubtful = row.stage.startsWith("kept");
    const head = el("header", "note", el("b", "", row.reason), el("span", "", doubtful ? row.stage : `dropped by ${row.stage}`),
      el("span", "", ...visible(`${row.source}:${row.row}`)), el("code", "", ...visible(row.id)));
    const texts = el("div", row.beside.length ? "columns shared" : "columns");
    texts.append(column(row.beside.length ? "this problem" : "problem", row.problem, row.answer.join("") ? row.answer : []));
    for (const other of row.beside) {
      const title = `${other.kind === "twin" ? "its twin" : "the benchmark's item"}: ${other.name}`;
      texts.append(column(title, other.problem, other.answer ? [other.answer] : []));
    }
    const facts = row.evidence.flatMap(([name, value]) => [el("dt", "", name.replaceAll("_", " ")), el("dd", "", ...visible(value))]);
    return el("article", doubtful ? "item doubtful" : "item", head, texts, el("dl", "evidence", ...facts), judge(row));
  }

  // The rows of each value of a field under the other choices.
  function totals(chosen, but) {
    const sums = new Map();
    for (const [stage, reason, source, rows] of data.counts) {
      const group = { stage, reason, source };
      if (fields.every((name) => name === but || !chosen[name] || chosen[name] === group[name])) sums.set(group[but], (sums.get(group[but]) || 0) + rows);
    }
    return sums;
  }
  const view = listing(25);
  const form = filterBar(Object.fromEntries(fields.map((name) => [name, [name, [["", `any ${name}`]]]])), "all of these, in any text of a row", update);
  function offerAll(chosen) {
    for (const name of fields) {
      const sums = [...totals(chosen, name)];
      if (name !== "stage") sums.sort((one, other) => other[1] - one[1]);
      if (chosen[name] && !sums.some(([value]) => value === chosen[name])) sums.push([chosen[name], 0]);
      offer(form.elements[name], [["", `any ${name}`], ...sums.map(([value, rows]) => [value, `${value} (${rows.toLocaleString("en")})`])]);
      form.elements[name].value = chosen[name] || "";
    }
  }
  function update() {
    const chosen = asked(form);
    const found = data.rows.filter((row) => fields.every((name) => !chosen[name] || row[name] === chosen[name]) && holds(row.all, chosen.words));
    let dropped = 0, doubtful = 0;
    for (const [stage, rows] of totals(chosen, "stage")) {
      if (chosen.stage && stage !== chosen.stage) continue;
      if (stage.startsWith("kept")) doubtful += rows; else dropped += rows;
    }
    const counted = several(dropped, "dropped row") + (doubtful ? ` and ${several(doubtful, "doubt")} about kept rows` : "");
    view.count.textContent = `${counted}; ${found.length.toLocaleString("en")} of them to read here${chosen.words.trim() ? " with these words" : ""}.`;
    offerAll(chosen);
    view.show(found, card);
  }

  const reset = el("button", "", "Show all");
  reset.type = "reset";
  form.addEventListener("reset", () => setTimeout(update));
  form.classList.add("sticky");
  form.append(reset, save);
  // A number of the tables above leads to its rows.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#stage=']");
    if (!link) return;
    offerAll(Object.fromEntries(new URLSearchParams(link.hash.slice(1))));
    form.elements.words.value = "";
    update();
    root.scrollIntoView();
  });
  root.replaceChildren(form, view.box);
  showSave();
  update();
})().catch((error) => document.getElementById("rows").replaceChildren(`The rows cannot be read: ${error.message}.`));
