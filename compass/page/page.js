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
