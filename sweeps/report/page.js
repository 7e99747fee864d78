"use strict";
// Sorts and filters the verdicts, and shows a whole table of the results folder. Without this script the page shows
// its rows in the order of the checks.
(() => {
  const rows = [...document.querySelectorAll(".verdicts tbody tr")];
  const form = document.getElementById("filter");
  const find = document.getElementById("find");
  const kinds = [...form.querySelectorAll("input[type=checkbox]")];
  const text = new Map(rows.map(row => [row, [...row.cells].map(cell => cell.textContent).join(" ").toLowerCase()]));

  // What a link leads to is not folded.
  const unfold = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target && (target.querySelector("details.experiment") ?? target); at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();

  const folds = [...document.querySelectorAll("details.rows, details.experiment")];
  const asWritten = new Map(folds.map(fold => [fold, fold.open]));
  let active = false;

  // While a filter is active, the page shows only matching rows and the names of
  // their experiments.
  const filter = () => {
    const words = find.value.toLowerCase().split(/\s+/);
    const wanted = new Set(kinds.filter(box => box.checked).map(box => box.value));
    const before = active;
    active = find.value.trim() !== "" || wanted.size < kinds.length;
    document.querySelector("main").classList.toggle("filtered", active);
    let shown = 0;
    for (const row of rows) {
      row.hidden = !wanted.has(row.dataset.verdict) || !words.every(word => text.get(row).includes(word));
      shown += row.hidden ? 0 : 1;
    }
    for (const section of document.querySelectorAll("main > section")) {
      const found = section.querySelectorAll(".verdicts tbody tr:not([hidden])").length;
      section.hidden = active && found === 0;
      for (const shown of section.querySelectorAll(".shown")) shown.textContent = active ? ` · ${found} shown` : "";
    }
    for (const fold of folds) {
      if (active) fold.open = true;
      else if (before) fold.open = asWritten.get(fold);
    }
    document.getElementById("shown").textContent = `${shown} of ${rows.length} verdicts`;
  };
  form.addEventListener("input", filter);
  form.addEventListener("submit", event => event.preventDefault());
  form.hidden = rows.length === 0;
  filter();

  // Compares numbers by value and other keys as text. Rows without a key come last in
  // either direction.
  const compare = (a, b) => {
    const x = Number(a), y = Number(b);
    if (!Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    return a < b ? -1 : a > b ? 1 : 0;
  };
  for (const table of document.querySelectorAll(".verdicts")) {
    const body = table.tBodies[0], headers = [...table.tHead.rows[0].cells];
    table.tHead.classList.add("sorts");
    headers.forEach((header, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      header.append(button);
      button.addEventListener("click", () => {
        const sign = header.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of headers) other.removeAttribute("aria-sort");
        header.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
        const keyed = [...body.rows].map(row => [key(row), row]);
        keyed.sort(([a], [b]) => (a === "") - (b === "") || sign * compare(a, b));
        body.append(...keyed.map(([, row]) => row));
      });
    });
  }

  // A table of the results folder of which the page has a sample, from a file that the reader chooses: a page that is a
  // file must not read the one beside it.
  const atOnce = 100;
  const outside = /,(?=(?:[^"]*"[^"]*")*[^"]*$)/; // a comma that no quotes enclose
  const fields = line => line.split(outside).map(field => field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field);
  const cellsOf = row => typeof row === "string" ? fields(row) : row;
  const rowsOf = (name, text) => {
    if (!name.endsWith(".json")) return text.trimEnd().split("\n");
    const {verdicts} = JSON.parse(text), header = [...new Set(verdicts.flatMap(Object.keys))];
    const show = value => typeof value === "object" && value !== null ? JSON.stringify(value) : String(value ?? "");
    return [header, ...verdicts.map(verdict => header.map(key => show(verdict[key])))];
  };
  for (const place of document.querySelectorAll(".whole")) {
    const [file, find] = place.querySelectorAll("input"), [earlier, later] = place.querySelectorAll("button");
    const table = place.querySelector("table"), says = place.querySelector("output");
    let header = [], rows = [], found = [], first = 0;
    const show = () => {
      table.replaceChildren();
      const line = (into, row, tag) => {
        const tr = into.insertRow();
        for (const value of cellsOf(row)) tr.append(Object.assign(document.createElement(tag), {textContent: value}));
      };
      line(table.createTHead(), header, "th");
      const body = table.createTBody();
      for (const row of found.slice(first, first + atOnce)) line(body, row, "td");
      earlier.disabled = first === 0;
      later.disabled = first + atOnce >= found.length;
      says.textContent = `${found.length ? first + 1 : 0} to ${Math.min(first + atOnce, found.length)} of ${found.length} rows`;
    };
    const search = () => {
      const words = find.value.toLowerCase().split(/\s+/);
      found = rows.filter(row => words.every(word => String(row).toLowerCase().includes(word)));
      first = 0;
      show();
    };
    file.addEventListener("change", async () => {
      if (file.files.length === 0) return;
      says.textContent = "reading …";
      try {
        [header, ...rows] = rowsOf(file.files[0].name, await file.files[0].text());
        find.disabled = false;
        search();
      } catch (problem) {
        says.textContent = `this file cannot be shown: ${problem.message}`;
      }
    });
    find.addEventListener("input", search);
    earlier.addEventListener("click", () => { first -= atOnce; show(); });
    later.addEventListener("click", () => { first += atOnce; show(); });
    place.hidden = false;
  }
})();
