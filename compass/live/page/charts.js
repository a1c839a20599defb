// Charts over iterations as SVG: lines or stacked bars, with a cursor that the pointer and the arrow keys move.

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 176;
const EDGE = { left: 44, right: 10, top: 8, bottom: 22 };
const FEW = 40;             // points up to which each is drawn as a dot
const cursors = new Map();  // title to the iteration that is read, kept while charts are drawn anew

const node = (tag, attributes, text) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

const known = (value) => value !== null && value !== undefined;

// Steps of 1, 2 or 5 times a power of ten, about `wanted` of them.
function ticks(low, high, wanted, least = 0) {
  const rough = Math.max((high - low) / wanted, least, 1e-12);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const found = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step) found.push(Math.abs(at) < step * 1e-6 ? 0 : at);
  return found;
}

function shown(value, percent) {
  if (!known(value)) return "–";
  const scaled = percent ? 100 * value : value;
  const size = Math.abs(scaled);
  const text = size !== 0 && size < 0.001 ? scaled.toExponential(1)
    : scaled.toLocaleString("en", { maximumFractionDigits: size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4 });
  return percent ? `${text}%` : text;
}

function bounds(chart) {
  const sums = chart.steps.map((_, n) => chart.series.reduce((sum, one) => sum + (one.values[n] ?? 0), 0));
  const values = chart.stacked ? sums : chart.series.flatMap((one) => one.values.filter(known));
  let low = Math.min(...values), high = Math.max(...values);
  if (chart.zero || chart.stacked) low = Math.min(0, low);
  if (high - low < 1e-9) [low, high] = [low === 0 ? 0 : low - Math.abs(low) * 0.1 - 1e-9, high + Math.abs(high) * 0.1 + (chart.percent ? 0.01 : 0.1)];
  const room = (high - low) * 0.06;
  return [low === 0 ? 0 : low - room, high + room];
}

export function drawChart(chart) {
  const caption = el("figcaption");
  const svg = node("svg", { tabindex: "0", role: "img" });
  const box = el("figure", "", caption, svg);
  const last = chart.steps.length - 1;
  let width = 0;

  const place = () => {
    const at = chart.steps.indexOf(cursors.get(chart.title));
    return at < 0 ? last : at;
  };
  const x = (step) => {
    const half = chart.stacked ? 0.6 : 0;  // bars are as wide as an iteration
    const [first, end] = [Math.min(1, chart.steps[0]) - half, Math.max(chart.last, chart.steps[last], 2) + half];
    return EDGE.left + ((step - first) / (end - first)) * (width - EDGE.left - EDGE.right);
  };

  function read() {
    const at = place();
    const keys = chart.series.map((one, n) => el("span", "key", el("i", `f${n % 10}`), `${one.name} ${shown(one.values[at], chart.percent)}`));
    caption.replaceChildren(el("span", "name", chart.title), el("span", "read", `iteration ${chart.steps[at]}`), ...keys);
    if (chart.text) caption.append(el("span", "read", chart.text));
    const told = chart.series.map((one) => `${one.name} ${shown(one.values[at], chart.percent)}`).join(", ");
    svg.setAttribute("aria-label", `${chart.title}: ${told} in iteration ${chart.steps[at]}. Arrow keys move between iterations.`);
  }

  function draw() {
    width = svg.clientWidth || 320;
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    const [low, high] = bounds(chart);
    const bottom = HEIGHT - EDGE.bottom;
    const y = (value) => bottom - ((value - low) / (high - low)) * (bottom - EDGE.top);
    const parts = [];
    for (const at of ticks(low, high, 3)) {
      parts.push(node("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(at), y2: y(at) }));
      parts.push(node("text", { x: EDGE.left - 6, y: y(at) + 4, "text-anchor": "end" }, shown(at, chart.percent)));
    }
    for (const at of ticks(1, Math.max(chart.last, chart.steps[last], 2), Math.max(2, width / 90), 1).filter((value) => value >= 1))
      parts.push(node("text", { x: x(at), y: HEIGHT - 5, "text-anchor": "middle" }, String(at)));
    parts.push(...(chart.stacked ? stacks(x, y) : chart.series.flatMap((one, n) => curve(one, n, x, y))));
    const at = place();
    if (cursors.has(chart.title) && at >= 0)
      parts.push(node("line", { class: "cursor", x1: x(chart.steps[at]), x2: x(chart.steps[at]), y1: EDGE.top, y2: bottom }));
    svg.replaceChildren(...parts);
    read();
  }

  function curve(one, n, x, y) {
    const points = chart.steps.map((step, at) => [x(step), one.values[at]]).filter(([, value]) => known(value)).map(([px, value]) => [px, y(value)]);
    const made = [node("polyline", { class: `line l${n % 10}`, points: points.map((point) => point.map((value) => value.toFixed(1)).join(",")).join(" ") })];
    if (points.length <= FEW) made.push(...points.map(([px, py]) => node("circle", { class: `f${n % 10}`, cx: px.toFixed(1), cy: py.toFixed(1), r: 2.4 })));
    return made;
  }

  function stacks(x, y) {
    const gap = chart.steps.length > 1 ? Math.min(...chart.steps.slice(1).map((step, n) => x(step) - x(chart.steps[n]))) : 40;
    const thick = Math.max(1, Math.min(28, gap * 0.8));
    return chart.steps.flatMap((step, at) => {
      let sum = 0;
      return chart.series.map((one, n) => {
        const value = one.values[at] ?? 0;
        const [top, under] = [y(sum + value), y(sum)];
        sum += value;
        return value > 0 ? node("rect", { class: `f${n % 10}`, x: (x(step) - thick / 2).toFixed(1), y: top.toFixed(1), width: thick.toFixed(1), height: Math.max(0.5, under - top).toFixed(1) }) : null;
      }).filter(Boolean);
    });
  }

  const move = (at) => {
    if (at === null) cursors.delete(chart.title);
    else cursors.set(chart.title, chart.steps[Math.max(0, Math.min(last, at))]);
    draw();
  };
  svg.addEventListener("pointermove", (event) => {
    const px = event.clientX - svg.getBoundingClientRect().left;
    const distances = chart.steps.map((step) => Math.abs(x(step) - px));
    move(distances.indexOf(Math.min(...distances)));
  });
  svg.addEventListener("pointerleave", () => move(null));
  // A chart that is drawn anew is gone by then, and the new one keeps the reader's place.
  svg.addEventListener("blur", () => setTimeout(() => { if (svg.isConnected) move(null); }));
  svg.addEventListener("keydown", (event) => {
    const steps = { ArrowLeft: place() - 1, ArrowRight: place() + 1, Home: 0, End: last };
    if (!(event.key in steps)) return;
    event.preventDefault();
    move(steps[event.key]);
  });
  new ResizeObserver(() => { if (svg.clientWidth !== width) draw(); }).observe(svg);
  return box;
}
