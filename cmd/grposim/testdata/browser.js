// Opens pages in Chromium and prints a line for everything that is wrong with one, then
// the number of rows of verdicts that it prints on paper.
// usage: node browser.js CHROMIUM PAGE...
"use strict";
const fs = require("node:fs");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");
const { source } = require("axe-core");

const openAll = () => document.querySelectorAll("details").forEach(fold => (fold.open = true));

// Problems of accessibility, and whether the page is wider than the window.
const look = async () => {
  const found = await axe.run({ preload: false }); // preloading reads style sheets anew, which a page from a file cannot
  const problems = found.violations.filter(v => ["serious", "critical"].includes(v.impact))
    .map(v => `${v.impact}: ${v.id}: ${v.nodes.length} × ${v.nodes[0].html.slice(0, 200)}`);
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) problems.push(`the page is ${wide} pixels wider than the window`);
  return problems;
};

// What a phone shows badly of a report: words broken in the middle, tables wider than the window and
// small letters in figures, which scroll in their box. A word ends where a line may be broken.
const phone = () => {
  const problems = [];
  const broken = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    if (!text.parentElement.checkVisibility() || text.parentElement.closest("pre, svg, script, style, legend")) continue;
    for (const word of text.data.matchAll(/[^\s\-−\u2010/.,=|(]+/g)) {
      const range = document.createRange();
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map(box => Math.round(box.bottom))).size > 1) broken.add(word[0]);
    }
  }
  if (broken.size > 0) problems.push(`words are broken in the middle: ${[...broken].slice(0, 12).join(", ")}`);
  for (const box of document.querySelectorAll(".scroll")) {
    if (box.scrollWidth > box.clientWidth + 1) problems.push(`${box.className} ${box.firstElementChild.className} is ${box.scrollWidth - box.clientWidth} pixels wider than the window`);
  }
  const shown = text => parseFloat(getComputedStyle(text).fontSize) * text.ownerSVGElement.clientWidth / text.ownerSVGElement.viewBox.baseVal.width;
  const small = [...document.querySelectorAll(".picture text")].filter(text => text.checkVisibility() && shown(text) < 10);
  if (small.length > 0) problems.push(`${small.length} texts in figures are smaller than 10 pixels: ${small[0].textContent}`);
  return problems;
};

// What print leaves out, or cuts at the end of a sheet of A4 in landscape.
const paper = () => {
  const printed = element => element.checkVisibility() && element.getBoundingClientRect().height > 0;
  const rows = [...document.querySelectorAll("tbody tr")], figures = [...document.querySelectorAll("figure")];
  const problems = [];
  const report = (elements, what) => { if (elements.length > 0) problems.push(`${elements.length} ${what}`); };
  report(rows.filter(row => !printed(row)), "rows of tables are not printed");
  report([...document.querySelectorAll("details:not(nav *) > :not(summary)")].filter(part => !printed(part)), "folded parts are not printed");
  report([...document.querySelectorAll("form, .up")].filter(printed), "parts that only a screen can use are printed");
  report(figures.filter(figure => !printed(figure)), "figures are not printed");
  const sheet = 186 * 96 / 25.4;
  report(figures.filter(figure => figure.getBoundingClientRect().height > sheet), "figures are higher than a sheet");
  report(figures.filter(figure => getComputedStyle(figure).breakInside !== "avoid"), "figures may be cut at the end of a sheet");
  return { problems, rows: document.querySelectorAll(".verdicts tbody tr").length };
};

(async () => {
  const [executablePath, ...files] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  let rows = 0;
  for (const file of files) {
    for (const colorScheme of ["light", "dark"]) {
      for (const width of [1280, 390]) {
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, bypassCSP: true });
        const page = await context.newPage();
        const say = problem => console.log(`${file}, ${colorScheme}, ${width} pixels: ${problem}`);
        page.on("console", message => say(`console: ${message.text()}`));
        page.on("pageerror", error => say(`error: ${error}`));
        await page.goto(pathToFileURL(file).href);
        await page.evaluate(source);
        await page.evaluate(openAll);
        (await page.evaluate(look)).forEach(say);
        if (width === 390 && await page.$("#find")) (await page.evaluate(phone)).forEach(say); // a report
        await context.close();
      }
    }
    const page = await browser.newPage({ viewport: { width: 1032, height: 703 } });
    const say = problem => console.log(`${file}, printed: ${problem}`);
    page.on("console", message => say(`console: ${message.text()}`)); // the page's own policy on scripts holds here
    await page.goto(pathToFileURL(file).href);
    for (const href of await page.evaluate(() => [...document.querySelectorAll("a[download]")].map(a => a.href))) {
      if (href.startsWith("file:") && !fs.existsSync(new URL(href))) say(`the link to ${href} has no file`);
    }
    if (await page.isVisible("#find")) await page.fill("#find", "no row holds this text"); // hides every row on the screen
    await page.emulateMedia({ media: "print" });
    const result = await page.evaluate(paper);
    result.problems.forEach(say);
    rows += result.rows;
    await page.close();
  }
  await browser.close();
  console.log(`${rows} rows`);
})();
