// Unfolds the details of cases and filters their list. Everything else on the page does without.
"use strict";
(() => {
  const cases = document.getElementById("cases");
  const perPack = Number(document.querySelector("main").dataset.pack);
  const packs = new Map();

  // The details of cases, some dozens in a pack: markup that was escaped when the page was written.
  function unpack(number) {
    if (!packs.has(number)) {
      const text = document.getElementById(`pack${number}`).textContent;
      const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
      packs.set(number, new Response(stream).json());
    }
    return packs.get(number);
  }

  async function detailsOf(row) {
    const number = Number(row.id.slice(1));
    try {
      return (await unpack(Math.floor(number / perPack)))[number % perPack];
    } catch {
      return "<p>This browser cannot unpack the details: it is older than 2023. The JSON report has them.</p>";
    }
  }

  async function unfold(row, link) {
    link.setAttribute("aria-expanded", "true");
    const more = row.parentNode.insertRow(row.sectionRowIndex + 1);
    more.className = "more";
    const cell = more.insertCell();
    // (A phone shows fewer columns.)
    cell.colSpan = [...row.cells].filter((one) => one.offsetWidth > 0).length || row.cells.length;
    cell.innerHTML = await detailsOf(row);
    addCopying(cell);
  }

  function fold(row, link) {
    link.setAttribute("aria-expanded", "false");
    row.nextElementSibling.remove();
  }

  cases.addEventListener("click", (event) => {
    const link = event.target.closest("a[aria-expanded]");
    if (link === null) return;
    event.preventDefault();
    const row = link.closest("tr");
    if (link.getAttribute("aria-expanded") === "true") fold(row, link);
    else unfold(row, link);
  });

  // A link to a case opens it, and the file that it stands in.
  async function goTo() {
    const row = document.getElementById(location.hash.slice(1));
    if (row === null) return;
    const file = row.closest("details");
    if (file !== null) [file.open, file.hidden] = [true, false];
    row.hidden = false;
    const link = row.querySelector('a[aria-expanded="false"]');
    if (row.tagName === "TR" && link !== null) {
      await unfold(row, link);
      link.focus({ preventScroll: true });
    }
    row.scrollIntoView();
  }
  addEventListener("hashchange", goTo);

  // On paper nothing can be unfolded.
  const folded = ".failure:not([open]), #known details:not([open]), #remarks details:not([open]), #coverage details:not([open])";
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(folded)];
    for (const details of opened) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of opened) details.open = false;
  });

  function addCopying(where) {
    if (!navigator.clipboard) return;
    for (const code of where.querySelectorAll("code.command")) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = "copy";
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "copied";
      });
      code.after(button);
    }
  }

  // The filters. What a row is found by is read from it when somebody looks for the first time.
  const form = document.getElementById("filters");
  const search = document.getElementById("search");
  const count = document.getElementById("count");
  const whole = count.textContent;
  const changed = document.getElementById("changed");
  let index = null;

  function readRows() {
    return [...cases.querySelectorAll("tr[id]")].map((row) => ({
      row,
      file: row.closest("details"),
      text: [row.closest("details").firstChild.firstChild.textContent, row.cells[0].textContent,
        row.cells[6].textContent, row.dataset.more || ""].join(" ").toLowerCase(),
      dtype: row.cells[1].textContent,
      mode: row.cells[2].textContent,
      status: row.className,
      changed: "changed" in row.dataset,
    }));
  }

  function filter() {
    index = index || readRows();
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const boxes = [...form.querySelectorAll("[name=status]")];
    const statuses = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const dtype = document.getElementById("dtype").value;
    const mode = document.getElementById("mode").value;
    const all = !words.length && !dtype && !mode && statuses.size === boxes.length && !(changed && changed.checked);
    const shown = new Map();
    let number = 0;
    for (const item of index) {
      const fits = statuses.has(item.status) && (!dtype || item.dtype === dtype) && (!mode || item.mode === mode)
        && (!changed || !changed.checked || item.changed) && words.every((word) => item.text.includes(word));
      item.row.hidden = !fits;
      const more = item.row.nextElementSibling;
      if (more !== null && more.className === "more") more.hidden = !fits;
      number += fits;
      shown.set(item.file, (shown.get(item.file) || 0) + fits);
    }
    for (const [file, rows] of shown) {
      file.hidden = rows === 0;
      if (!all && rows > 0 && number <= 300) file.open = true;
    }
    count.textContent = all ? whole : `${number} of ${whole}`;
  }

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;

  addCopying(document);
  if (location.hash) goTo();
})();
