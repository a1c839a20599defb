// Elements and texts. Nothing in the data ever becomes HTML: it is only set as text.

// Characters that change the direction of text, or are not seen: shown by their number instead.
const ODD = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/g;

export function el(tag, name, ...children) {
  const made = document.createElement(tag);
  if (name) made.className = name;
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export function visible(text) {
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

export function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 100) return `${whole} s`;
  const pad = (value) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  if (whole < 48 * 3600) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.round(whole / 86400)} days`;
}

export const count = (value) => Math.round(value).toLocaleString("en");
