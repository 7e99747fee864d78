// Opens the explorer's page in Chromium. Prints, for each line of standard input, which is
// the fragment of a link such as preset=two-arms&lag.interval=4, the JSON of the
// prediction that the page shows, and last how fast sliders are answered; on standard error
// a line for everything that is wrong. usage: node explorer.js CHROMIUM PAGE < FRAGMENTS
"use strict";
const fs = require("node:fs");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");
const { source } = require("axe-core");

const [executablePath, file] = process.argv.slice(2);
const address = pathToFileURL(file).href;
const fragments = fs.readFileSync(0, "utf8").split("\n").filter(line => line !== "");

const say = problem => {
  console.error(problem);
  process.exitCode = 1;
};

// These run in the page.
const drawn = () => document.getElementById("answer").getAttribute("aria-busy") === "false";
const mapped = () => !document.getElementById("map").classList.contains("stale");
const refined = () => !document.getElementById("map-words").textContent.includes("being computed");
const complete = () => /^(\d+) of \1 runs$/.test(document.getElementById("count").textContent) && document.querySelector(".stale") === null &&
  !document.getElementById("map-words").textContent.includes("being computed");
const shown = () => document.getElementById("numbers").textContent;
const problems = () => [...document.querySelectorAll("#problem-list li")].map(line => line.textContent);
const summary = () => document.querySelector("#summary .long").textContent;
const look = async () => {
  document.querySelectorAll("details").forEach(fold => (fold.open = true));
  const found = (await axe.run()).violations.filter(v => ["serious", "critical"].includes(v.impact))
    .map(v => `${v.impact}: ${v.id}: ${v.nodes.length} × ${v.nodes[0].html.slice(0, 200)}`);
  const wide = document.documentElement.scrollWidth - innerWidth;
  return wide > 0 ? [...found, `the page is ${wide} pixels wider than the window`] : found;
};
const follow = fragment => new Promise(resolve => {
  addEventListener("hashchange", () => resolve(), { once: true });
  location.hash = fragment;
});
// How long the page takes, from the event of each slider that has effect, to draw the
// answer in words and then the path: the fastest of some moves, because other programs may
// have the processors.
const times = async () => {
  const changed = (element, options, until) => new Promise(resolve => new MutationObserver((_, observer) => {
    if (!until()) return;
    observer.disconnect();
    requestAnimationFrame(() => resolve(performance.now()));
  }).observe(element, options));
  const main = document.getElementById("answer"), taken = { words: [], path: [] };
  for (const range of document.querySelectorAll("#groups input[type=range]:enabled")) {
    const place = Number(range.value), by = place > range.max / 2 ? -1 : 1;
    let words = Infinity, path = Infinity;
    for (const value of [place + by, place + 2 * by, place + 3 * by, place + 4 * by, place]) {
      const start = performance.now();
      const told = changed(document.getElementById("words"), { childList: true }, () => true);
      const drawn = changed(main, { attributes: true }, () => main.getAttribute("aria-busy") === "false");
      range.value = value;
      range.dispatchEvent(new Event("input", { bubbles: true }));
      words = Math.min(words, await told - start);
      path = Math.min(path, await drawn - start);
    }
    taken.words.push(words);
    taken.path.push(path);
  }
  return taken;
};

async function open(browser, what, fragment, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(300000); // other programs may have the processors; how long an answer takes is told by behaviour
  const page = await context.newPage();
  page.on("console", message => say(`${what}: console: ${message.text()}`));
  page.on("pageerror", error => say(`${what}: error: ${error}`));
  page.on("request", request => { if (/^(http|ws)/.test(request.url())) say(`${what}: the page asks the network for ${request.url()}`); });
  if (options.before) await page.addInitScript(options.before);
  await page.goto(`${address}#${fragment}`);
  return page;
}

async function predictions(browser) {
  const page = await open(browser, "numbers", fragments[0]);
  await page.waitForFunction(drawn);
  for (const fragment of fragments) {
    if (fragment !== fragments[0]) await page.evaluate(follow, fragment);
    await page.waitForFunction(drawn);
    (await page.evaluate(problems)).forEach(problem => say(`${fragment}: ${problem}`));
    console.log(JSON.stringify(JSON.parse(await page.evaluate(shown))));
  }
  await page.context().close();
}

async function appearance(browser) {
  for (const colorScheme of ["light", "dark"]) {
    for (const width of [1280, 390]) {
      const what = `${colorScheme}, ${width} pixels`;
      const page = await open(browser, what, fragments[0], { viewport: { width, height: 844 }, colorScheme, bypassCSP: true });
      await page.waitForFunction(complete);
      await page.evaluate(source);
      (await page.evaluate(look)).forEach(problem => say(`${what}: ${problem}`));
      await page.evaluate(follow, "optimizer.learning_rate=<img src=x onerror=alert(1)>&nosuch=1"); // a bad link
      await page.waitForFunction(() => document.querySelectorAll("#problem-list li").length > 0);
      if (await page.evaluate(() => document.querySelector("img") !== null)) say(`${what}: a link's text became HTML`);
      (await page.evaluate(look)).forEach(problem => say(`${what}, with problems: ${problem}`));
      await page.context().close();
    }
  }
}

// A value that is none is told at its field, and the answers of the setting before cannot be copied
// until it is right.
async function invalid(page) {
  const box = page.getByRole("textbox", { name: "refresh interval" });
  const state = () => page.evaluate(() => ({ inert: document.getElementById("answer").inert, said: [...document.querySelectorAll(".wrong")].map(line => line.textContent).join("") }));
  await box.fill("abc");
  await box.press("Enter");
  await page.waitForFunction(() => document.querySelector("[aria-invalid=true]") !== null);
  const wrong = await state();
  if (!wrong.inert || wrong.said !== 'got "abc", want an integer ≥ 0') say(`an invalid interval: ${JSON.stringify(wrong)}`);
  await box.fill("2");
  await box.press("Enter");
  await page.waitForFunction(() => document.querySelector("[aria-invalid=true]") === null);
  const right = await state();
  if (right.inert || right.said !== "") say(`a valid interval: ${JSON.stringify(right)}`);
}

// A question that takes minutes does not keep the next one waiting for long.
async function impatient(page) {
  await page.evaluate(follow, "preset=two-arms&run.steps=20000000&grpo.group_size=1024");
  await page.waitForTimeout(1000);
  await page.evaluate(follow, fragments[0]);
  await page.waitForFunction(complete, null, { timeout: 120000 }).catch(() => say("a run of 20 million steps blocks the page"));
}

async function behaviour(browser) {
  const page = await open(browser, "behaviour", fragments[0]);
  await page.waitForFunction(complete);
  const { words, path } = await page.evaluate(times);
  const tell = list => {
    list.sort((a, b) => a - b);
    return `median ${Math.round(list[Math.floor(list.length / 2)])} ms, slowest ${Math.round(list.at(-1))} ms`;
  };
  console.log(`from a slider to its answer: ${tell(words)}; with the path: ${tell(path)}`);

  for (const preset of ["six-arms", "as-trl"]) {
    const start = Date.now();
    await page.evaluate(follow, `preset=${preset}`);
    await page.waitForFunction(() => document.getElementById("map").classList.contains("stale"));
    await page.waitForFunction(mapped);
    const first = Date.now() - start;
    await page.waitForFunction(refined);
    console.log(`the map of ${preset}: a first sight after ${first} ms, the whole after ${Date.now() - start} ms`);
  }
  await page.evaluate(follow, fragments[0]);
  await page.waitForFunction(drawn);
  await page.waitForFunction(complete);
  const before = await page.evaluate(shown);
  await page.focus("#map .picture");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(before => document.getElementById("numbers").textContent !== before, before);
  await page.waitForFunction(drawn);
  await page.waitForTimeout(300); // the address is written when the setting rests
  const again = await open(browser, "behaviour, again", new URL(page.url()).hash.slice(1));
  await again.waitForFunction(drawn);
  if (await again.evaluate(shown) !== await page.evaluate(shown)) say(`the link ${page.url()} shows another setting than it was copied from`);
  await again.context().close();

  await invalid(page);
  await impatient(page);

  await page.emulateMedia({ media: "print" });
  const printed = selector => page.evaluate(selector => [...document.querySelectorAll(selector)].filter(element => element.checkVisibility()).length, selector);
  if (await printed("#controls, button") > 0) say("print has controls that only a screen can use");
  if (await printed("figure svg[role=img]") !== 3) say("print lacks figures");
  await page.context().close();

  const old = await open(browser, "an old browser", "", { before: () => delete globalThis.DecompressionStream });
  await old.waitForFunction(() => document.getElementById("summary").classList.contains("bad"));
  if (!(await old.evaluate(summary)).includes("DecompressionStream")) say(`an old browser is told: ${await old.evaluate(summary)}`);
  await old.context().close();
}

(async () => {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  await predictions(browser);
  await appearance(browser);
  await behaviour(browser);
  await browser.close();
})();
