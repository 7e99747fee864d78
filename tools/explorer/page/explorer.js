"use strict";
// The page asks a Go program for every number. Here are only controls, figures and the
// order of the questions.

const byId = id => document.getElementById(id);
const { controls, presets } = JSON.parse(byId("description").textContent);
const controlOf = new Map(controls.map(control => [control.key, control]));
const marks = { good: "✓", warn: "~", bad: "✗", none: "–" };
const still = matchMedia("(prefers-reduced-motion: reduce)");

// ---- Elements. Texts become text nodes, so that nothing from a link is read as HTML.

function build(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat(2).filter(child => child != null));
  return element;
}
const html = (tag, attributes = {}, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => build(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

// Digits enough for a reader; the numbers below the page have all of them.
function digits(x, n = 3) {
  if (!Number.isFinite(x)) return String(x);
  if (Number.isInteger(x) && Math.abs(x) < 1e6) return x.toLocaleString("en").replace(/^-/, "−");
  return String(Number(x.toPrecision(n))).replace(/^-/, "−");
}

function fillTable(table, head, rows) {
  table.replaceChildren(
    html("thead", {}, html("tr", {}, head.map(name => html("th", { scope: "col" }, name)))),
    html("tbody", {}, rows.map(row => html("tr", {}, row.map(cell => html("td", {}, cell ?? "–"))))));
}

// ---- The setting: a preset and the values that differ from it. The fragment of the
// address has it, and the axes of the map where they are chosen.

let setting = { preset: "", set: {} }, axes = null;
const presetOf = name => presets.find(preset => preset.name === name);
const valueOf = key => setting.set[key] ?? presetOf(setting.preset).values[key] ?? "";

function readFragment() {
  const given = new URLSearchParams(location.hash.slice(1));
  const name = given.get("preset") ?? presets[0].name, known = presetOf(name) !== undefined;
  setting = { preset: known ? name : presets[0].name, set: Object.create(null) };
  axes = given.get("axes")?.split(",") ?? null;
  if (axes?.length !== 2 || !axes.every(key => controlOf.has(key))) axes = null;
  for (const [key, text] of given) if (key !== "preset" && key !== "axes") setting.set[key] = text;
  return known ? "" : `The link names a preset ${JSON.stringify(name)}, which this page does not have. This is ${presets[0].name}.`;
}

function fragment() {
  const given = new URLSearchParams({ preset: setting.preset, ...setting.set });
  if (axes) given.set("axes", axes.join());
  return "#" + given;
}

// Browsers limit how often an address may change.
let writing;
function writeFragment() {
  clearTimeout(writing);
  writing = setTimeout(() => history.replaceState(null, "", fragment()), 200);
}

// Each change is a key and its text; a key without text goes back to the preset's.
function change(...changes) {
  for (const [key, text] of changes) {
    if (text === undefined || text === presetOf(setting.preset).values[key]) delete setting.set[key];
    else setting.set[key] = text;
  }
  writeFragment();
  showSetting();
  solve();
}

// ---- Controls.

// Scales of sliders and axes: what is even on them, and its inverse.
const scales = {
  linear: [x => x, u => u],
  log: [Math.log, Math.exp],
  logit: [p => Math.log(p / (1 - p)), u => 1 / (1 + Math.exp(-u))],
};
function between({ scale, min, max }, share) {
  const [even, back] = scales[scale];
  return back(even(min) + share * (even(max) - even(min)));
}

// The values at which a slider stops: whole numbers and powers of two, or about a hundred
// values of few digits.
function stopsOf(control) {
  const { kind, min, max, scale, step, zero } = control, whole = kind === "integer", stops = new Set(zero ? [0, max] : [max]);
  const count = scale === "linear" && step ? Math.round((max - min) / step) : 120;
  for (let i = 0; i <= count; i++) {
    const x = between(control, i / count), least = Math.min(x, scale === "logit" ? 1 - x : x);
    const places = scale === "linear" ? 6 : 1 - Math.floor(Math.log10(least)); // two digits of x, or of its distance from 1
    stops.add(whole && x < 100 ? Math.round(x) : whole ? Number(x.toPrecision(2)) : Number(x.toFixed(Math.max(0, places))));
  }
  if (whole) for (let x = 1; x <= max; x *= 2) if (x >= min) stops.add(x);
  return [...stops].filter(stop => stop <= max).sort((a, b) => a - b);
}

// The place of a value among the stops; between two of them the nearer one.
function placeOf({ stops }, value) {
  let best = 0;
  stops.forEach((stop, i) => { if (Math.abs(stop - value) < Math.abs(stops[best] - value)) best = i; });
  return best;
}

const nameOf = ({ label, unit }) => [label, unit ? html("span", { class: "unit" }, ` ${unit}`) : null];

function makeControl(control, i) {
  const id = `control-${i}`, { key } = control, shown = control.shown = [];
  const hint = control.hint = html("p", { class: "hint", id: `${id}-hint` }, control.doc);
  const wrong = control.wrong = html("p", { class: "wrong", id: `${id}-wrong`, hidden: true });
  const described = `${wrong.id} ${hint.id}`;
  const set = event => change([key, event.target.value.trim()]);
  let name = html("label", { for: id, id: `${id}-name` }, nameOf(control)), row;
  if (control.kind === "word" && control.words.length <= 3) {
    name = html("span", { class: "name", id: `${id}-name` }, nameOf(control));
    const radios = control.words.map(word => html("input", { type: "radio", name: key, value: word, onchange: set }));
    row = html("div", { class: "chips", role: "radiogroup", "aria-labelledby": `${id}-name`, "aria-describedby": described },
      radios.map(radio => html("label", {}, radio, html("span", {}, radio.value))));
    control.show = text => radios.forEach(radio => (radio.checked = radio.value === text));
    shown.push(...radios);
  } else if (control.kind === "word") {
    const select = html("select", { id, "aria-describedby": described, onchange: set }, control.words.map(word => html("option", {}, word)));
    row = html("div", { class: "row" }, select);
    control.show = text => (select.value = text);
    shown.push(select);
  } else {
    control.stops = stopsOf(control);
    const range = html("input", { type: "range", min: 0, max: control.stops.length - 1, step: 1, "aria-labelledby": `${id}-name`, "aria-describedby": described,
      oninput: () => change([key, String(control.stops[range.value])]) });
    const box = html("input", { type: "text", id, inputmode: "decimal", "aria-describedby": described, onchange: set });
    const words = (control.also ?? []).map(word => html("button", { type: "button",
      onclick: event => change([key, event.currentTarget.getAttribute("aria-pressed") === "true" ? String(control.stops[range.value]) : word]) }, word === "inf" ? "∞" : word));
    row = html("div", { class: "row" }, range, box, words);
    control.show = text => {
      if (text !== "" && Number.isFinite(Number(text))) range.value = placeOf(control, Number(text));
      range.setAttribute("aria-valuetext", `${text} ${control.unit ?? ""}`.trim());
      if (document.activeElement !== box || box.value.trim() !== text) box.value = text;
      words.forEach((word, j) => (word.setAttribute("aria-pressed", control.also[j] === text)));
    };
    shown.push(range, box, ...words);
  }
  control.element = html("div", { class: "control" }, name, row, wrong, hint);
  return control.element;
}

function makeControls() {
  byId("presets").append(...presets.map(preset => html("label", {},
    html("input", { type: "radio", name: "preset", value: preset.name, onchange: () => choose(preset.name) }), html("span", {}, preset.title))));
  const groups = new Map();
  controls.forEach((control, i) => {
    if (!groups.has(control.group)) groups.set(control.group, html("details", { open: groups.size === 0 }, html("summary", {}, control.group, html("span", { class: "now" }))));
    groups.get(control.group).append(makeControl(control, i));
  });
  byId("groups").append(...groups.values());
  for (const axis of ["x", "y"]) {
    byId(`axis-${axis}`).append(...controls.filter(control => control.stops).map(({ key, label }) => html("option", { value: key }, label)));
    byId(`axis-${axis}`).value = "";
    byId(`axis-${axis}`).addEventListener("change", chooseAxes);
  }
  byId("controls").addEventListener("submit", event => event.preventDefault());
}

function showSetting() {
  const preset = presetOf(setting.preset);
  for (const radio of byId("presets").querySelectorAll("input")) radio.checked = radio.value === preset.name;
  byId("about").textContent = preset.doc;
  for (const control of controls) {
    control.show(valueOf(control.key));
    control.element.classList.toggle("changed", control.key in setting.set);
  }
  showFolded();
  const others = Object.keys(setting.set).filter(key => !controlOf.has(key));
  byId("others").hidden = others.length === 0;
  byId("other-keys").replaceChildren(...others.map(key => html("li", {}, html("code", {}, `${key}=${setting.set[key]}`), " ",
    html("button", { type: "button", "aria-label": `Remove ${key}`, onclick: () => change([key]) }, "Remove"))));
}

// A folded group shows the values that have effect.
function showFolded() {
  for (const group of byId("groups").children) {
    group.querySelector(".now").textContent = controls.filter(({ element }) => group.contains(element) && !element.hasAttribute("data-idle"))
      .map(({ key, symbol }) => `${symbol ?? ""} ${valueOf(key)}`.trim()).join(" · ");
  }
}

// A control without effect is disabled and says why, but not while it has the focus:
// that would be lost.
function showIdle(idle) {
  for (const control of controls) {
    const why = idle[control.key];
    control.element.toggleAttribute("data-idle", why !== undefined);
    control.hint.textContent = why ?? control.doc;
    for (const input of control.shown) input.disabled = why !== undefined && input !== document.activeElement;
  }
  showFolded();
}

function choose(name) {
  setting = { preset: name, set: Object.create(null) };
  axes = null;
  writeFragment();
  showSetting();
  solve();
}

// ---- The program. A desk is a worker that answers one question at a time; of those
// that wait only the latest is asked, and the others get no answer. A question that
// keeps another waiting for too long is given up, with its worker.

const PATIENCE = 2000; // milliseconds

class Desk {
  constructor(program, source) {
    this.open = () => this.start(program, source);
    this.open();
  }
  start(program, source) {
    this.worker = new Worker(source);
    this.worker.onerror = event => stop(`The program stopped: ${event.message ?? "no reason is known"}. Load the page again; the link keeps the setting.`);
    this.worker.onmessage = ({ data }) => {
      this.asked?.resolve(data === "ready" ? undefined : JSON.parse(data));
      this.asked = undefined;
      this.next();
    };
    this.asked = { resolve() {} }; // until it is ready
    this.worker.postMessage(program);
  }
  ask(name, argument) {
    return new Promise(resolve => {
      this.waiting = { name, argument, resolve };
      this.next();
      if (this.waiting) this.patience ??= setTimeout(() => this.giveUp(), PATIENCE);
    });
  }
  giveUp() {
    this.patience = undefined;
    if (!this.waiting || !this.asked?.name) return; // it only just starts
    this.worker.terminate();
    this.open();
  }
  next() {
    if (this.asked || !this.waiting) return;
    this.asked = this.waiting;
    this.waiting = undefined;
    clearTimeout(this.patience);
    this.patience = undefined;
    this.worker.postMessage([this.asked.name, JSON.stringify(this.asked.argument)]);
  }
}

let desks, newDesk;
async function start() {
  const lacks = ["WebAssembly", "DecompressionStream", "Worker"].filter(name => !(name in globalThis));
  if (lacks.length > 0) {
    stop(`This browser has no ${lacks.join(" and no ")}, which this page computes with. A recent Chrome, Edge, Firefox or Safari has it. On the command line "grposim predict" gives the same numbers.`);
    return;
  }
  try {
    const packed = Uint8Array.from(atob(byId("program").textContent), character => character.charCodeAt(0));
    const unpacked = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
    const program = await WebAssembly.compile(await unpacked.arrayBuffer());
    const source = URL.createObjectURL(new Blob([byId("worker").textContent], { type: "text/javascript" }));
    newDesk = () => new Desk(program, source);
    desks = { answers: newDesk() }; // the others when the first answer is there
    solve();
  } catch (error) {
    stop(`The program did not start: ${error.message}`);
  }
}

// ---- The order of the questions: the answer, then the curve; when the setting rests,
// the runs and the map. What belongs to an older setting is dropped.

let turn = 0, resting, slow;
let answer, path, runs, map;

async function solve() {
  if (!desks) return;
  const mine = ++turn, asked = { preset: setting.preset, set: { ...setting.set } };
  clearTimeout(resting);
  clearTimeout(slow);
  byId("answer").setAttribute("aria-busy", "true");
  slow = setTimeout(() => {
    document.body.classList.add("stale");
    byId("path-words").textContent = "The path is being computed.";
  }, 150);
  const given = await desks.answers.ask("answer", asked);
  if (mine !== turn) return;
  if (given.problems) {
    rest();
    if (path) drawPath(); // its words may say that another is being computed
    showProblems(given.problems);
    return;
  }
  answer = given;
  path = runs = undefined;
  ensemble = { mine, asked, total: 1, steps: [], runs: [], diverged: 0, goes: false };
  showAnswer();
  byId("map").classList.toggle("stale", map?.held !== heldBy(asked));
  drawMap();
  resting = setTimeout(async () => {
    desks.runs ??= newDesk();
    desks.map ??= newDesk();
    simulate(ensemble);
    await chart(mine, asked);
    if (mine === turn) forgetWords();
  }, 250);
  const curve = await desks.answers.ask("path", asked);
  if (mine !== turn) return;
  path = curve.problems ? { steps: [], reward: [], scope: told(curve.problems) } : curve;
  drawPath();
  showWords(path.words ?? []);
  rest();
}

function rest() {
  clearTimeout(slow);
  document.body.classList.remove("stale");
  byId("answer").setAttribute("aria-busy", "false");
}

let paused = false, ensemble;
async function simulate(more) {
  let drawn = 0;
  more.goes = true;
  while (more.mine === turn && !paused && more.runs.length < more.total) {
    const part = await desks.runs.ask("ensemble", { state: more.asked, from: more.runs.length, replicas: 16, counted: more.counted });
    if (more.mine !== turn) return;
    if (part.problems) {
      byId("count").textContent = told(part.problems);
      return;
    }
    more.total = part.total;
    more.steps = part.steps;
    more.runs.push(...part.runs);
    more.diverged += part.diverged;
    more.counted = part.counted;
    const done = more.runs.length >= more.total, now = performance.now();
    if (part.summary && (done || more.runs.length >= 64)) { // what the runs did belongs to the answer
      summarize(part.summary);
      showWords(part.words);
    }
    byId("count").textContent = more.total > 0 ? `${more.runs.length} of ${more.total} runs` : "No run has a start";
    if (done || paused || (!still.matches && now - drawn > 250)) {
      drawn = now;
      runs = more;
      if (path) drawPath();
    }
  }
  more.goes = false;
}

const heldBy = asked => { // all that the map depends on: the point itself may move on it
  const set = { ...asked.set };
  for (const key of axes ?? [answer.map_axes.x, answer.map_axes.y]) delete set[key];
  return JSON.stringify([asked.preset, axes ?? answer.map_axes, Object.entries(set).sort()]);
};

async function chart(mine, asked) {
  const [x, y] = axes ?? [answer.map_axes.x, answer.map_axes.y], held = heldBy(asked);
  if (map?.held === held) return;
  byId("map").classList.add("stale");
  for (const every of [5, 1]) { // a first sight, of one node in 25, then all
    const name = every > 1 ? "The map" : "This is a first sight; the finer map";
    for (let part = 0, parts = 1; part < parts; part++) {
      byId("map-words").textContent = `${name} is being computed${part > 0 ? `: ${part} of ${parts} parts` : ""}.`;
      const given = await desks.map.ask("map", { state: asked, x, y, every, part });
      if (mine !== turn) return;
      parts = given.parts;
      map = given.problems || part === parts - 1 ? given : map;
    }
    byId("map").classList.remove("stale");
    drawMap();
    if (map.problems) return;
  }
  map.held = held;
}

// ---- What is said.

let speaking;
function say(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => (byId("said").textContent = text), 800);
}

function summarize({ tone, text, short }) {
  const bar = byId("summary");
  bar.className = `state ${tone}`;
  bar.querySelector(".mark").textContent = marks[tone];
  bar.querySelector(".long").textContent = text;
  bar.querySelector(".short").textContent = short ?? text;
  document.documentElement.style.setProperty("--height-of-bar", `${byId("bar").offsetHeight}px`); // the controls stand below it
  say(text);
}

function stop(text) {
  turn++;
  summarize({ tone: "bad", text });
}

const told = problems => problems.map(({ key, text }) => key ? `${key}: ${text}` : text).join("; ");

// A problem stands at its control, and in a list if it has none. The answers of the setting
// before stay, pale, and cannot be copied.
function showProblems(problems) {
  const others = problems.filter(({ key }) => !controlOf.has(key)), labels = [];
  for (const control of controls) {
    const text = problems.filter(({ key }) => key === control.key).map(({ text }) => text).join("; ");
    control.wrong.textContent = text;
    control.wrong.hidden = text === "";
    for (const input of control.shown) if (!/range|button/.test(input.type)) text ? input.setAttribute("aria-invalid", "true") : input.removeAttribute("aria-invalid");
    if (text === "") continue;
    labels.push(`${control.label}: ${text}`);
    control.element.closest("details").open = true;
  }
  byId("problems").hidden = others.length === 0;
  byId("problem-list").replaceChildren(...others.map(problem => html("li", {}, told([problem]))));
  byId("answer").inert = byId("link").disabled = problems.length > 0;
  if (problems.length > 0) summarize({ tone: "bad", text: `This setting cannot be computed. ${[...labels, ...others.map(problem => told([problem]))].join("; ")}.`, short: `Cannot be computed: ${labels[0] ?? told(others)}` });
}

// The cards of the answer. Those that are computed last stay from the setting before,
// pale, until they come or the setting turns out to have none: nothing jumps.
const cards = new Map();
function showWords(words) {
  for (const word of words) cards.set(word.question, { ...word, turn });
  byId("words").replaceChildren(...[...cards.values()].map(({ question, answer, tone, turn: of }) => html("div", { class: of === turn ? tone : "none old" },
    html("dt", {}, question), html("dd", {}, html("span", { "aria-hidden": "true" }, `${marks[tone]} `), answer))));
}

function forgetWords() {
  for (const [question, card] of cards) if (card.turn !== turn) cards.delete(question);
  showWords([]);
}

function showAnswer() {
  byId("answer").hidden = false;
  showProblems([]);
  summarize(answer.summary);
  showWords(answer.words);
  showIdle(answer.idle ?? {});
  byId("command").textContent = answer.command;
  byId("yaml").textContent = answer.yaml;
  byId("save").download = answer.file;
  byId("save").textContent = `Save it as ${answer.file}`;
  byId("save").href = `data:text/yaml;charset=utf-8,${encodeURIComponent(answer.yaml)}`;
  byId("sweep").textContent = answer.sweep;
  byId("numbers").textContent = JSON.stringify(answer.prediction, null, 1);
  showAxes();
  drawMultipliers();
}

// ---- Figures.

// Round values from low to high, at most about n of them.
function ticksOf({ min, max, scale }, n) {
  const ticks = [];
  if (scale === "log") {
    const first = Math.floor(Math.log10(min)), last = Math.ceil(Math.log10(max));
    const sets = [[1, 2, 5], [1, 3], [1]], every = Math.max(1, Math.ceil((last - first) / n));
    const leads = sets.find(set => Math.log10(max / min) * set.length <= n) ?? [1];
    for (let e = first; e <= last; e += every) for (const lead of leads) ticks.push(Number(`${lead}e${e}`));
  } else if (scale === "logit") {
    ticks.push(0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999);
  } else {
    const raw = (max - min) / n, power = 10 ** Math.floor(Math.log10(raw));
    const by = power * [1, 2, 5, 10].find(lead => lead * power >= raw);
    for (let i = Math.ceil(min / by); i * by <= max + by * 1e-9; i++) ticks.push(Number((i * by).toPrecision(12)));
  }
  return ticks.filter(tick => tick >= min * (1 - 1e-9) - 1e-300 && tick <= max * (1 + 1e-9) + 1e-300 || tick === 0 && min <= 0 && max >= 0);
}

// A drawing with axes. px and py turn values into pixels,
// layers is where curves go.
function frame(figure, width, height, x, y) {
  const left = 56, right = 22, top = 8, bottom = 44, floor = height - bottom;
  const along = (axis, from, to) => {
    const [even] = scales[axis.scale], low = even(axis.min), high = even(axis.max);
    return value => from + (to - from) * (even(value) - low) / (high - low);
  };
  const px = along(x, left, width - right), py = along(y, floor, top), middle = (top + floor) / 2;
  const layers = svg("g", { "clip-path": `url(#${figure.id}-clip)` });
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${height}`, style: `max-width: ${width}px`, role: "img", "aria-labelledby": `${figure.id}-title`, "aria-describedby": `${figure.id}-words` },
    svg("clipPath", { id: `${figure.id}-clip` }, svg("rect", { x: left, y: top, width: width - left - right, height: floor - top })),
    ticksOf(x, Math.max(3, Math.floor(width / 90))).map(tick => [
      svg("path", { class: "grid", d: `M${px(tick)} ${floor}V${top}` }),
      svg("text", { x: px(tick), y: floor + 17, "text-anchor": "middle" }, digits(tick))]),
    ticksOf(y, 6).map(tick => [
      svg("path", { class: "grid", d: `M${left} ${py(tick)}H${width - right}` }),
      svg("text", { x: left - 7, y: py(tick) + 4, "text-anchor": "end" }, digits(tick))]),
    layers,
    svg("path", { class: "edge", d: `M${left} ${top}V${floor}H${width - right}` }),
    svg("text", { class: "title", x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, x.label),
    svg("text", { class: "title", x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, y.label));
  showPicture(figure, drawing);
  return { drawing, layers, px, py, width, height, left, right, top, bottom };
}

// A figure that has nothing to show keeps its title and its words.
function showPicture(figure, ...drawings) {
  figure.querySelector(".picture").replaceChildren(...drawings);
  for (const part of figure.querySelectorAll(".picture, .legend, .hint, details")) part.hidden = drawings.length === 0;
}

// The width that a drawing may have.
const roomIn = figure => Math.max(240, figure.clientWidth - 16);

// The path of a curve; where a value is null it has a gap.
function curve(points, px, py) {
  let d = "", pen = false;
  for (const point of points) {
    if (point && Number.isFinite(point[0]) && Number.isFinite(point[1]) && point[1] !== null) {
      d += `${pen ? "L" : "M"}${px(point[0]).toFixed(1)} ${py(point[1]).toFixed(1)}`;
      pen = true;
    } else pen = false;
  }
  return d;
}

const outline = (steps, low, high, px, py) => {
  const there = steps.map((_, i) => i).filter(i => low[i] != null && high[i] != null);
  const points = [...there.map(i => [steps[i], high[i]]), ...there.reverse().map(i => [steps[i], low[i]])];
  return points.length > 0 ? `${curve(points, px, py)}Z` : "";
};

function legend(figure, entries) {
  figure.querySelector(".legend").replaceChildren(...entries.map(([text, ...classes]) => html("li", {},
    svg("svg", { viewBox: "0 0 34 16", "aria-hidden": "true" }, classes.map(name =>
      /band|region/.test(name) ? svg("rect", { class: name, width: 34, height: 16 }) :
      /spot|multiplier/.test(name) ? svg("circle", { class: name, cx: 17, cy: 8, r: 6 }) : svg("path", { class: name, d: "M0 8H34" }))), text)));
}

// 5 % and 95 % of a normal law are 1.645 standard deviations from its mean.
const NORMAL_95 = 1.645;

// The mean and the 5 % and 95 % quantiles of the runs at each step; diverged runs have no
// value there.
function spread({ steps, runs }) {
  const mean = [], low = [], high = [];
  steps.forEach((_, i) => {
    const values = Float64Array.from(runs.map(run => run[i]).filter(value => value != null)).sort();
    const at = share => {
      const place = share * (values.length - 1), k = Math.floor(place);
      return values[k] + (place - k) * ((values[k + 1] ?? values[k]) - values[k]);
    };
    const any = values.length > 0;
    mean.push(any ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
    low.push(any ? at(0.05) : null);
    high.push(any ? at(0.95) : null);
  });
  return { mean, low, high };
}

const last = list => list.findLast(value => value != null);

// The edges of the predicted band; null where the theory has no deviation.
function edges({ reward, deviation }) {
  if (!deviation?.some(value => value != null)) return null;
  const at = sign => reward.map((value, i) => value == null || deviation[i] == null ? null : value + sign * NORMAL_95 * deviation[i]);
  return { low: at(-1), high: at(1) };
}

// The least and the largest of the numbers in some lists, and a little room.
function rangeOf(...lists) {
  let low = Infinity, high = -Infinity;
  for (const value of lists.flat()) if (value != null) [low, high] = [Math.min(low, value), Math.max(high, value)];
  if (low > high) return { min: 0, max: 1 };
  const room = Math.max(0.06 * (high - low), 1e-4);
  return { min: low - room, max: high + room };
}

function drawPath() {
  const figure = byId("path"), { steps, reward, fixed_point, doubt } = path, band = edges(path), seen = runs && spread(runs);
  const many = runs?.total > 1, singles = many ? runs.runs.slice(0, 4) : []; // with the expected gradient there is one run
  const end = Math.max(1, steps.at(-1) ?? 0, runs?.steps.at(-1) ?? 0);
  const { layers, px, py } = frame(figure, roomIn(figure), innerWidth < 640 ? 280 : 360, { scale: "linear", min: 0, max: end, label: "optimizer step" },
    { scale: "linear", ...rangeOf(reward, band?.low, band?.high, fixed_point, seen?.low, seen?.high, ...singles), label: "expected reward J" });
  const add = (name, d) => layers.append(svg("path", { class: name, d }));
  const line = (name, at, values) => add(name, curve(at.map((step, i) => [step, values[i]]), px, py));
  const entries = [];
  if (band) add("theory-band", outline(steps, band.low, band.high, px, py));
  if (many) add("runs-band", outline(runs.steps, seen.low, seen.high, px, py));
  for (const run of singles) line("run", runs.steps, run);
  if (reward.length > 0) {
    const style = doubt ? "theory doubtful" : "theory";
    line(style, steps, reward);
    entries.push([`predicted${doubt ? ", uncertain here" : ""}${band ? ", with 5–95 % of runs (normal law)" : ""}`, ...(band ? ["theory-band"] : []), style]);
  }
  if (fixed_point != null) {
    line("rest", [0, end], [fixed_point, fixed_point]);
    entries.push([`fixed point J* = ${digits(fixed_point, 4)}`, "rest"]);
  }
  if (seen) {
    line("runs", runs.steps, seen.mean);
    entries.push(...(many ? [["simulated mean, with 5–95 % of runs", "runs-band", "runs"], ["single runs", "run"]] : [["simulated", "runs"]]));
  }
  legend(figure, entries);
  byId("path-words").textContent = pathWords(band, seen).join(" ");
  fillTable(figure.querySelector("table"), ["step", "predicted J", "5 %", "95 %", "simulated mean", "5 %", "95 %"], pathRows(band, seen));
}

function pathWords(band, seen) {
  const { steps, reward, neglected, kind, scope, doubt } = path, said = [], show = list => digits(last(list), 4);
  if (reward.length > 0) {
    said.push(`Predicted (${kind}): J goes from ${digits(reward[0], 4)} to ${show(reward)} in ${digits(steps[reward.findLastIndex(value => value != null)])} steps` +
      (band ? `, and 5–95 % of the runs end within ${show(band.low)} and ${show(band.high)}.` : "."));
    if (last(neglected ?? []) != null) said.push(`What the theory neglects is about ${digits(Math.max(...neglected.filter(value => value != null)), 2)} at most.`);
  }
  if (doubt) said.push(`This is uncertain: ${doubt}.`);
  if (scope) said.push(`${reward.length > 0 ? "The theory does not claim this curve" : "The theory has no curve here, and the simulated runs are shown alone"}: ${scope}.`);
  if (seen && last(seen.mean) != null) said.push(runs.total > 1 ?
    `Simulated: ${runs.runs.length} of ${runs.total} runs, at the end a mean of ${show(seen.mean)}, 5–95 % of them within ${show(seen.low)} and ${show(seen.high)}.` :
    `Simulated: one run, which ends at ${show(seen.mean)}.`);
  if (runs?.diverged > 0) said.push(`${runs.diverged} of ${runs.runs.length} runs diverged.`);
  return said;
}

// About two dozen rows. Theory and simulation have the same steps where both are there.
function pathRows(band, seen) {
  const steps = path.steps.length > 0 ? path.steps : runs?.steps ?? [], every = Math.max(1, Math.ceil(steps.length / 24));
  const columns = [path.reward, band?.low, band?.high, seen?.mean, seen?.low, seen?.high];
  return steps.map((step, i) => [digits(step), ...columns.map(column => column?.[i] == null ? null : digits(column[i], 4))])
    .filter((_, i) => i % every === 0 || i === steps.length - 1);
}

// A modulus; one that is close to 1 is told by its distance.
const nearOne = x => Math.abs(x - 1) >= 1e-3 || x === 1 ? digits(x, 4) : `1 ${x < 1 ? "−" : "+"} ${digits(Math.abs(x - 1), 2)}`;

function drawMultipliers() {
  const figure = byId("multipliers"), { per, list } = answer.multipliers;
  if (list.length === 0) {
    showPicture(figure);
    byId("multipliers-words").textContent = "The theory has no multipliers here.";
    return;
  }
  const moduli = list.map(([re, im]) => Math.hypot(re, im));
  const reach = Math.min(3, 1.12 * Math.max(1.05, ...moduli)), axis = label => ({ scale: "linear", min: -reach, max: reach, label });
  const width = Math.min(roomIn(figure), 460);
  const { layers, px, py } = frame(figure, width, width - 16, axis("real part"), axis("imaginary part")); // a square
  const ring = [];
  for (let i = 0; i <= 120; i++) ring.push([Math.cos(i * Math.PI / 60), Math.sin(i * Math.PI / 60)]);
  layers.append(svg("path", { class: "edge", d: curve([[-reach, 0], [reach, 0], null, [0, -reach], [0, reach]], px, py) }),
    svg("path", { class: "exact", d: curve(ring, px, py) }));
  list.forEach(([re, im], i) => layers.append(svg("circle", { class: moduli[i] > 1 ? "multiplier outside" : "multiplier", cx: px(re), cy: py(im), r: 6 })));
  legend(figure, [["|λ| = 1: outside, deviations grow", "exact"], ["multiplier λ", "multiplier"],
    ...(moduli.some(modulus => modulus > 1) ? [["multiplier outside", "multiplier outside"]] : [])]);

  const rows = list.map(([re, im], i) => {
    const angle = Math.abs(Math.atan2(im, re));
    return [i, [digits(re, 4), digits(im, 4), nearOne(moduli[i]), angle > 0 ? `${digits(2 * Math.PI / angle)}` : null]];
  }).sort(([a], [b]) => moduli[b] - moduli[a]).map(([, row]) => row);
  byId("multipliers-words").textContent =
    `A deviation from the fixed point is multiplied by these per ${per}. The largest has |λ| = ${rows[0][2]}${rows[0][3] ? `, and turns once in ${rows[0][3]} of them` : ""}.`;
  fillTable(figure.querySelector("table"), ["real part", "imaginary part", "|λ|", `period, in units of one ${per}`], rows);
}

// ---- The map.

function showAxes() {
  const [x, y] = axes ?? [answer.map_axes.x, answer.map_axes.y];
  byId("axis-x").value = x;
  byId("axis-y").value = y;
}

function chooseAxes(event) {
  let x = byId("axis-x").value, y = byId("axis-y").value;
  const [oldX, oldY] = axes ?? [answer.map_axes.x, answer.map_axes.y];
  if (x === y) [x, y] = event.target.id === "axis-x" ? [x, oldX] : [oldY, y]; // the same key twice: the axes change places
  axes = x === answer.map_axes.x && y === answer.map_axes.y ? null : [x, y];
  showAxes();
  writeFragment();
  solve();
}

let plot; // the map's frame, for clicks
function drawMap() {
  const figure = byId("map");
  if (!map) return;
  if (map.problems) {
    plot = undefined;
    showPicture(figure);
    byId("map-words").textContent = `There is no map over these two: ${told(map.problems)}`;
    return;
  }
  const width = roomIn(figure), { x, y } = map;
  plot = frame(figure, width, Math.max(300, Math.min(460, width * 0.75)), x, y);
  const { layers, px, py } = plot;
  const d = polygons => polygons.map(polygon => `${curve(polygon, px, py)}Z`).join("");
  for (const { tone, polygons } of map.regions) layers.append(svg("path", { class: `region ${tone}`, d: d(polygons), "fill-rule": "evenodd" }));
  map.lines.forEach(({ kind, points }, i) => layers.append(svg("path", { class: `${kind} line-${i}`, d: curve(points, px, py) })));
  const here = { x: Number(valueOf(x.key)), y: Number(valueOf(y.key)) };
  const inside = axis => here[axis] >= map[axis].min && here[axis] <= map[axis].max;
  const name = axis => `${controlOf.get(map[axis].key).label} = ${digits(here[axis])}`;
  const beyond = ["x", "y"].filter(axis => !inside(axis)).map(axis => `${name(axis)} lies ${here[axis] < map[axis].min ? "below" : "above"} the range of this map`);
  if (beyond.length === 0) {
    const cx = px(here.x), cy = py(here.y), toLeft = cx > plot.width / 2;
    layers.append(svg("path", { class: "here", d: `M${plot.left} ${cy}H${plot.width}M${cx} 0V${plot.height}` }));
    plot.drawing.append(svg("circle", { class: "spot", cx, cy, r: 7 }),
      svg("text", { class: "name", x: cx + (toLeft ? -12 : 12), y: cy < 40 ? cy + 22 : cy - 10, "text-anchor": toLeft ? "end" : "start" }, "you are here"));
  }
  legend(figure, [...map.regions.filter(({ polygons }) => polygons.length > 0).map(({ name, tone }) => [name, `region ${tone}`]),
    ...map.lines.map(({ label, kind }, i) => [label, `${kind} line-${i}`])]);
  byId("map-words").textContent = (beyond.length === 0 ? `You are at ${name("x")}, ${name("y")}. ` : `You are not on it: ${beyond.join(", and ")}. `) +
    map.lines.map(({ label, meaning }) => `${label[0].toUpperCase()}${label.slice(1)}: ${meaning}.`).join(" ");
  fillTable(figure.querySelector("table"), ["line", x.label, y.label], map.lines.flatMap(({ label, points }) => {
    const real = points.filter(point => point), every = Math.max(1, Math.ceil(real.length / 10));
    return real.filter((_, i) => i % every === 0).map(point => [label, digits(point[0]), digits(point[1])]);
  }));
}

// The control of an axis goes to the stop nearest a value, or some stops further.
function move(axis, value, by = 0) {
  const { key } = map[axis], control = controlOf.get(key);
  const stop = control.stops[Math.max(0, Math.min(control.stops.length - 1, placeOf(control, value) + by))];
  return [key, String(stop)];
}

byId("map").querySelector(".picture").addEventListener("click", event => {
  if (!plot) return;
  const box = plot.drawing.getBoundingClientRect(), ratio = plot.width / box.width;
  const across = ((event.clientX - box.left) * ratio - plot.left) / (plot.width - plot.left - plot.right);
  const up = 1 - ((event.clientY - box.top) * ratio - plot.top) / (plot.height - plot.top - plot.bottom);
  if (across < 0 || across > 1 || up < 0 || up > 1) return;
  change(move("x", between(map.x, across)), move("y", between(map.y, up)));
});

byId("map").querySelector(".picture").addEventListener("keydown", event => {
  const arrow = { ArrowLeft: ["x", -1], ArrowRight: ["x", 1], ArrowDown: ["y", -1], ArrowUp: ["y", 1] }[event.key];
  if (!arrow || !plot || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const [axis, by] = arrow;
  change(move(axis, Number(valueOf(map[axis].key)), event.shiftKey ? 5 * by : by));
});

// ---- Buttons and the window.

async function copy(text, button) {
  const label = button.textContent;
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a page of a file may have no clipboard: then a selection is copied
    const area = html("textarea", { class: "hidden" });
    area.value = text;
    document.body.append(area);
    area.select();
    done = document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = done ? "Copied" : "Not copied";
  say(button.textContent);
  setTimeout(() => (button.textContent = label), 1500);
}

byId("link").addEventListener("click", event => copy(location.href.split("#")[0] + fragment(), event.target));
byId("reset").addEventListener("click", () => choose(setting.preset));
byId("pause").addEventListener("click", event => {
  paused = !paused;
  event.target.textContent = paused ? "Go on" : "Pause";
  if (!paused && ensemble && !ensemble.goes) simulate(ensemble);
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => copy(byId(button.dataset.copy).textContent, button));
}

function load() {
  clearTimeout(writing);
  const note = readFragment();
  byId("note").textContent = note;
  byId("note").hidden = note === "";
  showSetting();
  solve();
}
addEventListener("hashchange", load);

let width = 0;
new ResizeObserver(() => {
  if (innerWidth === width) return;
  width = innerWidth;
  if (path) drawPath();
  if (answer) drawMultipliers();
  drawMap();
}).observe(document.body);

makeControls();
load();
// The program is the last and largest part of the page: by then the rest has been drawn.
addEventListener("DOMContentLoaded", () => requestAnimationFrame(() => setTimeout(start)));
