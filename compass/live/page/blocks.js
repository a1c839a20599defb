// One function per kind of block (compass/live/blocks.py): data in, an element out.
import { drawChart } from "./charts.js";
import { el, prose, visible } from "./elements.js";

const SIGN = { true: "RIGHT", false: "WRONG" };
const heading = (text) => (text ? el("h3", "", text) : null);
const muted = (text) => (text ? el("p", "muted", ...prose(text)) : null);

function note({ text, command }) {
  return el("p", "", ...prose(text), " ", command ? el("code", "", command) : null);
}

function warning({ text, details }) {
  const more = details ? el("details", "", el("summary", "", "Details"), el("pre", "", ...visible(details))) : null;
  const box = el("div", "warning", el("div", "", ...visible(text)), more);
  box.setAttribute("role", "status");
  return box;
}

function link({ text, url }) {
  const made = el("a", "", text);
  made.href = url;
  return el("p", "", made);
}

function figures({ items }) {
  const tile = ({ name, value, note }) => el("div", "", el("dt", "", name), el("dd", "", el("div", "value", value), el("div", "of", note)));
  return el("dl", "figures", ...items.map(tile));
}

function table({ title, head, rows, text }) {
  const number = head.map((_, n) => rows.length > 0 && rows.every((row) => typeof row[n] === "number" || /^[–\d+-]/.test(row[n])));
  const cell = (tag, value, n) => el(tag, number[n] ? "n" : "", ...visible(typeof value === "number" ? value.toLocaleString("en") : value));
  const top = head.some(Boolean) ? el("thead", "", el("tr", "", ...head.map((name, n) => cell("th", name, n)))) : null;
  const body = el("tbody", "", ...rows.map((row) => el("tr", "", ...row.map((value, n) => cell("td", value, n)))));
  const scroll = el("div", "scroll", el("table", "", top, body));
  scroll.tabIndex = 0;
  return el("section", "", heading(title), muted(text), scroll);
}

function bars({ title, text, items }) {
  const most = Math.max(...items.map(([, size]) => size), 1e-9);
  const lines = items.flatMap(([name, size, told]) => {
    const bar = el("i");
    bar.style.width = `${(60 * size) / most}%`;
    return [el("span", "", ...visible(name)), el("div", "track", bar, el("span", "", told))];
  });
  return el("section", "", heading(title), el("div", "bars", ...lines), muted(text));
}

function charts({ items }) {
  const drawn = items.map(drawChart);
  const box = el("div", "charts", ...drawn);
  box.redraw = () => drawn.forEach((one) => one.redraw());
  return box;
}

function guards({ items }) {
  const chip = ({ name, level, fired }) => {
    const when = fired.length ? `: fired in iteration ${fired.slice(-3).join(", ")}${fired.length > 3 ? ` (${fired.length} times)` : ""}` : "";
    return el("li", fired.length ? `fired ${level}` : level, `${name.replaceAll("_", " ")} (${level})${when}`);
  };
  return el("section", "", heading("Guards"), el("ul", "chips", ...items.map(chip)));
}

function responses(block, { choose }) {
  const { title, text, choices, chosen, problems } = block;
  let picker = null;
  if (choices.length > 1) {
    const select = el("select");
    for (const step of [...choices].reverse()) select.add(new Option(String(step), String(step), false, step === chosen));
    select.addEventListener("change", () => choose(Number(select.value)));
    picker = el("label", "", "iteration", select);
  }
  const about = chosen === null ? null : `Iteration ${chosen}.`;
  return el("section", "", heading(title), muted([about, text].filter(Boolean).join(" ")), picker, ...problems.map(problem));
}

function problem({ about, problem, gold, responses }) {
  const text = el("div", "full", ...visible(problem));
  text.dir = "auto";
  const right = el("p", "", el("b", "", "gold "), el("code", "", ...visible(gold)));
  return el("div", "problem", el("div", "muted", ...visible(about)), text, right, el("div", "columns", ...responses.map(response)));
}

function response({ name, right, answer, facts, text }) {
  const judged = right === null ? "not judged yet" : SIGN[right];
  const given = right === null ? null : !answer ? " · no answer found" : el("span", "", " · answer ", el("code", "", ...visible(answer)));
  const told = facts.filter((fact) => fact !== "no answer");
  const verdict = el("div", "verdict", `${name} · `, el("b", "", judged), given, told.length ? " · " : "", ...visible(told.join(" · ")));
  const pre = el("pre", "", ...(text ? visible(text) : [el("span", "muted", "(empty)")]));
  pre.dir = "auto";
  return el("div", `response ${right === null ? "" : right ? "right" : "wrong"}`, verdict, pre);
}

const KINDS = { note, warning, link, figures, table, bars, charts, guards, responses };

export const drawBlock = (block, actions) => (KINDS[block.kind] ? KINDS[block.kind](block, actions) : el("p"));
