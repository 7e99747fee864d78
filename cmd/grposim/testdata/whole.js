// Opens a page in Chromium from its file, gives it a table of its results folder, and prints what it then says: the rows shown, the rows
// after a step to the later ones, and those that a word finds.
// usage: node whole.js CHROMIUM PAGE TABLE WORD
"use strict";
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");

(async () => {
  const [executablePath, page, table, word] = process.argv.slice(2);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const tab = await browser.newPage();
  for (const event of ["console", "pageerror"]) tab.on(event, problem => console.log(problem.text?.() ?? problem.message));
  await tab.goto(pathToFileURL(page).href);
  const says = async () => console.log(await tab.locator(".whole output").textContent(), await tab.locator(".whole tbody tr").count());
  await tab.locator(".whole input[type=file]").setInputFiles(table);
  await tab.locator(".whole tbody tr").first().waitFor();
  await says();
  await tab.getByRole("button", { name: "later" }).click();
  await says();
  await tab.locator(".whole input[type=search]").fill(word);
  await says();
  await browser.close();
})();
