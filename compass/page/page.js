"use strict";
// What every page builds its content with: elements, packed data, texts and responses. Nothing in the data ever becomes HTML:
// it is only set as text.

// Characters that change the direction of text, or are not seen: shown by their number instead.
const ODD = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/g;

function el(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

// The value that an element of this name holds: JSON, compressed by gzip, in base64.
async function unpack(name) {
  if (!("DecompressionStream" in window))
    throw new Error("this browser is too old to unpack the page's data; open the page in a browser of 2023 or later, or read the files under data/");
  const text = atob(document.getElementById(name).textContent), bytes = new Uint8Array(text.length);
  for (let place = 0; place < text.length; place++) bytes[place] = text.charCodeAt(place);
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(unpacked).text());
}

// Text with unseen characters made visible, in pieces that are safe to append.
function visible(text) {
  const pieces = [];
  let from = 0;
  for (const found of String(text).matchAll(ODD)) {
    pieces.push(text.slice(from, found.index));
    const code = found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    pieces.push(el("span", "odd", `⟨U+${code}⟩`));
    from = found.index + found[0].length;
  }
  pieces.push(String(text).slice(from));
  return pieces.filter((piece) => piece !== "");
}

// A problem's whole text and its gold.
function drawProblem(text, gold) {
  const full = el("div", "full", ...visible(text));
  full.dir = "auto";
  return [full, el("p", "", el("b", "", "gold "), el("code", "", ...visible(gold)))];
}

// A response with its verdict and facts, its answer marked; `right` is null where it has not been judged yet.
function drawResponse({ name, right, answer, facts, text }) {
  const judged = right !== null && right !== undefined;
  const verdict = el("div", "verdict", `${name} · `, el("b", "", judged ? (right ? "RIGHT" : "WRONG") : "not judged yet"));
  if (judged) verdict.append(...(answer ? [" · answer ", el("code", "", ...visible(answer))] : [" · no answer found"]));
  for (const fact of facts) if (fact && fact !== "no answer") verdict.append(" · ", ...visible(fact));
  return el("div", judged ? `response ${right ? "right" : "wrong"}` : "response", verdict, drawText(text, answer));
}

// A response's text, with its answer marked in the last box that holds it, else at its last occurrence.
function drawText(text, answer) {
  const pre = el("pre");
  pre.dir = "auto";
  const boxed = answer ? text.lastIndexOf(`{${answer}}`) : -1;
  const at = boxed >= 0 ? boxed + 1 : answer ? text.lastIndexOf(answer) : -1;
  if (!text) pre.append(el("span", "note", "(empty)"));
  else if (at < 0) pre.append(...visible(text));
  else {
    const end = at + answer.length;
    pre.append(...visible(text.slice(0, at)), el("mark", "", ...visible(text.slice(at, end))), ...visible(text.slice(end)));
  }
  return pre;
}

// ---- lists that a reader filters: in the report's viewer and on the ledger's page

// Fill a select with [value, text] pairs; `chosen` is its value until another is chosen, and again after a reset.
function offer(select, options, chosen = options[0]?.[0]) {
  select.replaceChildren(...options.map(([value, text]) => new Option(text, value, value === chosen, value === chosen)));
}

// A bar of selects ({name: [label, options, chosen]}) and a search for words; `changed` runs whenever a reader changes one.
function filterBar(selects, hint, changed) {
  const form = el("form", "filters screen");
  for (const [name, [label, ...options]] of Object.entries(selects)) {
    const select = el("select");
    select.name = name;
    offer(select, ...options);
    form.append(el("label", "", label, select));
  }
  const words = el("input");
  Object.assign(words, { type: "search", name: "words", placeholder: hint, autocomplete: "off" });
  form.append(el("label", "words", "words", words));
  form.addEventListener("input", changed);
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}

// What the fields of a bar hold, by their names.
const asked = (form) => Object.fromEntries([...form.elements].filter((field) => field.name).map((field) => [field.name, field.value]));

// Whether a text in lower case holds all words of a search.
const holds = (text, words) => words.toLowerCase().split(/\s+/).filter(Boolean).every((word) => text.includes(word));

// A list that shows some entries and more on demand: `show` takes what was found, and the function that draws one.
function listing(most) {
  const count = el("p", "note count"), list = el("div", "list"), button = el("button", "screen");
  count.setAttribute("aria-live", "polite");
  let found = [], draw = null, shown = 0;
  function add(many) {
    list.append(...found.slice(shown, shown + many).map(draw));
    shown = Math.min(shown + many, found.length);
    button.hidden = shown === found.length;
    button.textContent = `Show ${Math.min(most, found.length - shown)} more of ${(found.length - shown).toLocaleString("en")}`;
  }
  button.addEventListener("click", () => add(most));
  // Printed, a list holds all that was found, up to a number that a person would print.
  addEventListener("beforeprint", () => add(Math.max(0, 200 - shown)));
  return { box: el("div", "", count, list, button), count, show: (entries, how) => {
    [found, draw, shown] = [entries, how, 0];
    list.replaceChildren();
    add(most);
  } };
}
