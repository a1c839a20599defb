// The live page: asks for the state every two seconds and draws what changed.
import { drawChart } from "./charts.js";

const EVERY = 2000;  // milliseconds between two looks
const SIGNS = { waiting: "○", running: "●", finished: "✓", failed: "✕", killed: "■" };
const WORDS = { waiting: "not run yet", running: "running", finished: "finished", failed: "failed", killed: "killed" };
const count = (value) => Math.round(value).toLocaleString("en");
const by = (id) => document.getElementById(id);

let ahead = 0;       // how far the server's clock is ahead of this one, seconds
let state = null;
let timer = 0;
let asked = 0;
const drawn = [];    // the blocks on the page: {text, element}
const buttons = new Map();

const chosen = () => new URLSearchParams(location.hash.slice(1));

function choose(stage, step) {
  const wanted = new URLSearchParams();
  if (stage) wanted.set("stage", stage);
  if (step) wanted.set("step", step);
  history.replaceState(null, "", stage ? `#${wanted}` : location.pathname);
  look();
}

function duration(seconds) {
  const whole = Math.round(seconds);
  if (whole < 100) return `${whole} s`;
  const pad = (value) => String(value).padStart(2, "0");
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  if (whole < 48 * 3600) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.round(whole / 86400)} days`;
}

async function look() {
  clearTimeout(timer);
  const mine = ++asked;
  try {
    const got = await fetch(`/api/state?${chosen()}`, { cache: "no-store" });
    if (!got.ok) throw new Error(`the server answers ${got.status}`);
    const found = await got.json();
    if (mine !== asked) return;
    state = found;
    ahead = state.now - Date.now() / 1000;
    draw();
    by("lost").hidden = true;
  } catch (error) {
    if (mine !== asked) return;
    by("lost").replaceChildren("The page's server does not answer, so this is what was known last. Start it again with ", el("code", "", "compass up"), ".");
    by("lost").hidden = false;
  }
  if (!document.hidden) timer = setTimeout(look, EVERY);
}

function draw() {
  by("title").textContent = ["Compass", state.folder, state.profile && `profile ${state.profile}`].filter(Boolean).join(" · ");
  same(by("links"), JSON.stringify(state.links), () => state.links.map(({ text, url }) => {
    const made = el("a", "", text);
    made.href = url;
    return made;
  }));
  drawStages();
  drawHead();
  drawBlocks();
}

// Draw `box` anew only where what it shows changed, so that a selection or an opened part stays.
function same(box, text, make) {
  if (box.shown === text) return;
  box.shown = text;
  box.replaceChildren(...make());
}

function drawStages() {
  const names = state.stages.map((stage) => stage.name);
  if (names.join() !== [...buttons.keys()].join()) {
    buttons.clear();
    for (const name of names) {
      const button = el("button");
      button.addEventListener("click", () => choose(name));
      buttons.set(name, button);
    }
    by("stages").replaceChildren(...buttons.values());
  }
  for (const stage of state.stages) {
    const button = buttons.get(stage.name);
    const earlier = state.newest && stage.state !== "waiting" && !stage.this_run;
    button.className = earlier ? `${stage.state} earlier` : stage.state;
    button.setAttribute("aria-current", String(stage.name === state.selected));
    const share = stage.state === "running" && stage.total ? `${Math.floor((100 * stage.done) / stage.total)}%` : "";
    same(button, JSON.stringify([stage.state, stage.name, share]), () => {
      const sign = el("span", "sign", SIGNS[stage.state]);
      sign.setAttribute("aria-hidden", "true");
      return [sign, el("span", "", stage.name), share ? el("span", "share", share) : ""];
    });
    const word = WORDS[stage.state] + (earlier ? " in an earlier run" : "");
    button.title = word;
    button.setAttribute("aria-label", `${stage.name}, ${word}${share ? `, ${share}` : ""}`);
  }
}

function drawHead() {
  const stage = state.stages.find((one) => one.name === state.selected);
  const following = !chosen().get("stage");
  if (!stage) {
    by("head").replaceChildren();
    document.title = "Compass";
    return;
  }
  const now = Date.now() / 1000 + ahead;
  const running = stage.state === "running";
  const short = stage.unit === "percent" ? stage.counted : stage.total ? `${count(stage.done)}/${count(stage.total)}` : "";
  document.title = running ? `${stage.name} ${short} · Compass` : "Compass";
  const took = running ? `running for ${duration(now - stage.started)}` : stage.seconds === null ? "" : `took ${duration(stage.seconds)}`;
  const ago = stage.ended ? `ended ${duration(Math.max(0, now - stage.ended))} ago` : "";
  const left = running && stage.seconds_left !== null ? `${duration(stage.seconds_left)} left` : "";
  const told = [stage.phase, running || stage.state !== "finished" ? stage.counted : "", left, stage.detail].filter(Boolean);
  const times = [took, ago, !running && stage.state !== "waiting" && !stage.this_run ? "from an earlier run" : ""].filter(Boolean);
  const share = stage.state === "finished" ? 1 : stage.total ? Math.min(1, stage.done / stage.total) : 0;
  const text = JSON.stringify([stage.name, stage.state, told, times, share, following, state.newest]);
  same(by("head"), text, () => {
    const top = el("div", "top", el("h2", "", stage.name), el("span", `state ${stage.state}`, WORDS[stage.state]));
    if (!following && state.newest && state.newest !== stage.name) {
      const back = el("button", "follow", `Follow the run: ${state.newest}`);
      back.addEventListener("click", () => choose(""));
      top.append(back);
    }
    const fill = el("div");
    fill.style.width = `${100 * share}%`;
    const bar = el("div", `bar ${stage.state}`, fill);
    bar.setAttribute("role", "progressbar");
    bar.setAttribute("aria-label", `progress of ${stage.name}`);
    bar.setAttribute("aria-valuenow", String(Math.round(100 * share)));
    const shownBar = stage.state !== "waiting" && (stage.total || stage.state === "finished") ? bar : "";
    return [top, shownBar, running || stage.state !== "finished" ? el("p", "", ...visible(told.join(" · "))) : "", el("p", "muted", times.join(", "))].filter(Boolean);
  });
}

function drawBlocks() {
  const box = by("blocks");
  state.blocks.forEach((block, n) => {
    const text = state.selected + block;
    if (drawn[n] && drawn[n].text === text) return;
    const element = makeElement(block);
    const opened = drawn[n] && drawn[n].element.querySelector("details[open]");
    if (opened && element.querySelector("details")) element.querySelector("details").open = true;
    if (drawn[n]) replace(drawn[n].element, element);
    else {
      if (n === 0) box.replaceChildren();
      box.append(element);
    }
    drawn[n] = { text, element };
  });
  for (const gone of drawn.splice(state.blocks.length)) gone.element.remove();
}

// A block's HTML, which the server escaped (compass/page/blocks.html), as an element with its charts and responses drawn.
function makeElement(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const element = template.content.firstElementChild;
  for (const place of element.querySelectorAll("[data-chart]")) place.replaceWith(drawChart(JSON.parse(place.dataset.chart)));
  for (const place of element.querySelectorAll("[data-problem]")) {
    const { problem, gold, responses } = JSON.parse(place.dataset.problem);
    place.append(...drawProblem(problem, gold), el("div", "columns", ...responses.map(drawResponse)));
  }
  element.querySelector("select.step")?.addEventListener("change", (event) => choose(state.selected, Number(event.target.value)));
  return element;
}

// Put an element in the place of another; what had the focus has it again.
function replace(old, element) {
  const reached = (box) => [...box.querySelectorAll("a, button, select, summary, svg, [tabindex]")];
  const at = reached(old).indexOf(document.activeElement);
  old.replaceWith(element);
  if (at >= 0) reached(element)[at]?.focus({ preventScroll: true });
}

addEventListener("hashchange", look);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
setInterval(() => { if (state && !document.hidden) drawHead(); }, 1000);
look();
