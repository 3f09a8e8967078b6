"use strict";
(() => {
  const root = document.documentElement;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

  // Theme: the system's unless the reader chose one.
  const themeButton = document.querySelector(".theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const nameTheme = () => {
    themeButton.textContent = isDark() ? "Light" : "Dark";
    themeButton.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  };
  themeButton.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("plexlens-theme", root.dataset.theme); } catch (e) { /* for this visit only */ }
    nameTheme();
  });
  dark.addEventListener("change", nameTheme);
  nameTheme();
  document.querySelector(".print").addEventListener("click", () => print());

  // Contents: a list that opens on a narrow screen; the section in view is marked.
  const contents = document.getElementById("contents");
  const opener = document.querySelector(".open-contents");
  const open = (state) => { contents.dataset.open = state; opener.setAttribute("aria-expanded", state); };
  open(false);
  opener.addEventListener("click", () => open(contents.dataset.open !== "true"));
  contents.addEventListener("click", (event) => { if (event.target.closest("a")) open(false); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") { open(false); closePopover(); } });
  const links = new Map(all("a[href^='#']", contents).map((link) => [link.getAttribute("href").slice(1), link]));
  let parts = [];
  let waiting = false;
  const mark = () => {
    waiting = false;
    const line = innerHeight * 0.3;
    let current = null;
    for (const part of parts) if (part.getBoundingClientRect().top <= line) current = part.id;
    for (const [id, link] of links) {
      if (id === current) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(mark); } }, { passive: true });

  // Tables: sort by any column, filter, show all.
  const number = (cell) => {
    if (cell.dataset.v !== undefined) return Number(cell.dataset.v);
    const text = cell.textContent.replaceAll(",", "");
    return text === "" || cell.classList.contains("null") ? NaN : Number(text);
  };
  const collator = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
  const arrange = (table) => {
    // The first rows stay in sight; those behind them wait for "show all". Rows filtered out do not count.
    const top = Number(table.dataset.top);
    let seen = 0;
    for (const row of table.tBodies[0].rows) {
      if (!row.classList.contains("out")) seen += 1;
      row.classList.toggle("over", seen > top && !row.classList.contains("out"));
    }
    const block = table.closest(".block");
    const count = block.querySelector(".count");
    const rows = table.tBodies[0].rows.length;
    const shown = block.classList.contains("whole") ? seen : Math.min(seen, top);
    if (count) count.textContent = `${shown.toLocaleString("en")} of ${rows.toLocaleString("en")} rows. `;
    const show = block.querySelector(".show");
    if (show) show.textContent = block.classList.contains("whole") ? show.dataset.top : show.dataset.all;
  };
  const sort = (head) => {
    const table = head.closest("table");
    const index = head.cellIndex;
    const numeric = head.classList.contains("num");
    const before = head.getAttribute("aria-sort");
    const direction = before === "none" ? (numeric ? "descending" : "ascending") : before === "descending" ? "ascending" : "descending";
    for (const other of all("[aria-sort]", table)) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", direction);
    const sign = direction === "ascending" ? 1 : -1;
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => {
      const cell = row.cells[index];
      const key = numeric ? number(cell) : cell.textContent;
      return { row, key, empty: numeric ? Number.isNaN(key) : cell.classList.contains("null") };
    });
    // Null is not a small number: it stands last either way.
    keyed.sort((a, b) => a.empty || b.empty ? a.empty - b.empty : sign * (numeric ? a.key - b.key : collator.compare(a.key, b.key)));
    body.append(...keyed.map((one) => one.row));
    arrange(table);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.classList.contains("sort")) sort(button.closest("th"));
    if (button.classList.contains("copy")) copy(button);
    if (button.classList.contains("show")) {
      const block = button.closest(".block");
      block.classList.toggle("whole");
      block.querySelector(".scroll").classList.toggle("whole", block.classList.contains("whole"));
      arrange(block.querySelector("table"));
    }
  });
  // A command is selected and copied; where the browser refuses the clipboard, the selection remains to be copied.
  const copy = (button) => {
    const range = document.createRange();
    range.selectNodeContents(button.parentElement.querySelector("code"));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = document.execCommand("copy") ? "Copied" : "Selected";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  // Words of a filter are found anywhere in a row; a text in quotes is a whole cell.
  const wordsOf = (text) => [...text.toLowerCase().matchAll(/"([^"]*)"?|\S+/g)].map((found) => ({ whole: found[1] !== undefined, text: found[1] ?? found[0] }));
  const filter = (input) => {
    const words = wordsOf(input.value);
    const table = input.closest(".block").querySelector("table");
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase().replaceAll("\u00a0", " ");
      const cells = [...row.cells].map((cell) => cell.textContent.trim().toLowerCase().replaceAll("\u00a0", " "));
      row.classList.toggle("out", !words.every((word) => (word.whole ? cells.includes(word.text) : text.includes(word.text))));
    }
    arrange(table);
  };
  document.addEventListener("input", (event) => { if (event.target.matches(".filter")) filter(event.target); });
  // A row leads to its parts: the table below, filtered by the row's keys.
  document.addEventListener("click", (event) => {
    const way = event.target.closest("a.drill");
    if (!way) return;
    const block = document.querySelector(way.getAttribute("href"));
    const input = block?.querySelector(".filter");
    if (!input) return;
    const folded = block.closest("details") ?? block.querySelector("details");
    if (folded) folded.open = true;
    input.value = way.dataset.find;
    filter(input);
  });

  // Definitions: shown beside the number they belong to.
  const popover = document.createElement("div");
  popover.className = "popover";
  popover.id = "popover";
  popover.setAttribute("role", "tooltip");
  popover.hidden = true;
  document.body.append(popover);
  let pinned = null;
  let timer = 0;
  function closePopover() {
    popover.hidden = true;
    if (pinned) pinned.removeAttribute("aria-describedby");
    pinned = null;
  }
  const openPopover = (anchor) => {
    const entry = document.getElementById(decodeURIComponent(anchor.hash.slice(1)));
    if (!entry) return;
    const copy = entry.cloneNode(true);
    copy.removeAttribute("id");
    popover.replaceChildren(copy);
    popover.hidden = false;
    anchor.setAttribute("aria-describedby", "popover");
    pinned = anchor;
    const box = anchor.getBoundingClientRect();
    const width = popover.offsetWidth;
    const left = Math.min(Math.max(box.left - 20, 12), root.clientWidth - width - 12);
    const below = box.bottom + 8 + popover.offsetHeight < innerHeight || box.top < popover.offsetHeight + 16;
    popover.style.left = `${left + scrollX}px`;
    popover.style.top = `${(below ? box.bottom + 8 : box.top - popover.offsetHeight - 8) + scrollY}px`;
  };
  const definitionOf = (target) => target.closest(".def") || target.closest("th")?.querySelector(".def");
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    clearTimeout(timer);
    const anchor = definitionOf(event.target);
    if (anchor && anchor !== pinned) timer = setTimeout(() => { closePopover(); openPopover(anchor); }, 350);
    else if (!anchor && !event.target.closest(".popover")) timer = setTimeout(closePopover, 200);
  });
  document.addEventListener("focusin", (event) => {
    const anchor = event.target.closest(".def");
    if (anchor) { closePopover(); openPopover(anchor); } else if (pinned) closePopover();
  });
  document.addEventListener("click", (event) => {
    const anchor = event.target.closest(".def");
    if (!anchor) { if (!event.target.closest(".popover")) closePopover(); return; }
    // A tap shows the definition in place; a second one, or a mouse that already sees it, goes to the appendix.
    if (event.pointerType === "touch" && popover.dataset.tapped !== anchor.hash) {
      event.preventDefault();
      popover.dataset.tapped = anchor.hash;
      openPopover(anchor);
    } else closePopover();
  });

  // Charts: a reading line that all charts of the same time share; one over a number (its places have labels) has its own.
  // A heat map has none: its numbers stand in a table.
  let charts = [];
  const chartOf = (script) => {
    const figure = script.parentNode;
    const data = JSON.parse(script.textContent);
    return { figure, data, plot: figure.querySelector(".plot"), area: figure.querySelector(".area"), cursor: null };
  };
  const reading = document.createElement("div");
  reading.className = "reading";
  reading.setAttribute("role", "status");
  reading.hidden = true;
  const offset = Number(document.querySelector("main").dataset.offset || 0);
  const zone = document.querySelector("main").dataset.zone || "UTC";
  const clock = (seconds) => new Date((seconds + offset) * 1000).toISOString().slice(0, 16).replace("T", " ");
  const showLine = (chart, index) => {
    if (!chart.cursor) {
      chart.cursor = document.createElement("div");
      chart.cursor.className = "cursor";
      chart.area.append(chart.cursor);
    }
    chart.cursor.hidden = index < 0;
    if (index >= 0) chart.cursor.style.left = `${(chart.data.x[index] + chart.data.w[index]) / 20}%`;
  };
  const at = (data, seconds) => {
    if (data.l) return -1;
    let found = -1;
    for (let i = 0; i < data.t.length && data.t[i] <= seconds; i += 1) found = i;
    return found;
  };
  const read = (chart, index) => {
    const seconds = chart.data.l ? Infinity : chart.data.t[index];
    for (const other of charts) {
      const same = other === chart ? index : at(other.data, seconds);
      const inside = other === chart || (same >= 0 && seconds < other.data.e[same]);
      showLine(other, inside ? same : -1);
    }
    const names = all(".legend li", chart.figure);
    const table = document.createElement("table");
    chart.data.v.forEach((values, number) => {
      const row = table.insertRow();
      const swatch = document.createElement("i");
      swatch.style.background = `var(--c${number + 1})`;
      row.insertCell().append(swatch, names[number].childNodes[1].textContent.trim());
      const value = values[index];
      row.insertCell().textContent = value === null ? "–"
        : value.toLocaleString("en", { minimumFractionDigits: chart.data.d, maximumFractionDigits: chart.data.d });
    });
    const time = document.createElement("div");
    const place = chart.data.l ? chart.data.l[index] : `${clock(seconds)} ${chart.data.z || zone}`;
    time.textContent = `${place}${chart.data.u ? `, in ${chart.data.u}` : ""}`;
    reading.replaceChildren(time, table);
    if (reading.parentNode !== chart.figure) chart.figure.append(reading);
    reading.hidden = false;
    chart.figure.style.position = "relative";
    const area = chart.area.getBoundingClientRect();
    const figure = chart.figure.getBoundingClientRect();
    const middle = (chart.data.x[index] + chart.data.w[index]) / 2000 * area.width;
    const right = area.left - figure.left + middle + 12;
    const fits = right + reading.offsetWidth < figure.width - 4;
    const left = fits ? right : Math.max(4, right - 24 - reading.offsetWidth);
    reading.style.left = `${left}px`;
    reading.style.top = `${area.top - figure.top + 6}px`;
    chart.index = index;
  };
  const leave = () => { reading.hidden = true; for (const chart of charts) showLine(chart, -1); };
  const listen = (chart) => {
    const nearest = (event) => {
      const box = chart.area.getBoundingClientRect();
      const place = (event.clientX - box.left) / box.width * 1000;
      let best = -1;
      if (chart.data.l) {
        chart.data.x.forEach((one, i) => { if (best < 0 || Math.abs(one - place) < Math.abs(chart.data.x[best] - place)) best = i; });
        return best;
      }
      chart.data.x.forEach((left, i) => { if (place >= left && place <= chart.data.w[i]) best = i; });
      return best;
    };
    chart.plot.addEventListener("pointermove", (event) => { const i = nearest(event); if (i >= 0) read(chart, i); else leave(); });
    chart.plot.addEventListener("pointerdown", (event) => { const i = nearest(event); if (i >= 0) read(chart, i); });
    chart.plot.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") leave(); });
    chart.plot.addEventListener("blur", leave);
    chart.plot.addEventListener("keydown", (event) => {
      const last = chart.data.x.length - 1;
      const steps = { ArrowRight: 1, ArrowLeft: -1, PageDown: 8, PageUp: -8 };
      let index = chart.index ?? -1;
      if (event.key in steps) index += steps[event.key];
      else if (event.key === "Home") index = 0;
      else if (event.key === "End") index = last;
      else return;
      event.preventDefault();
      read(chart, Math.min(Math.max(index, 0), last));
    });
  };

  // What stands in the page: all of it at first, and what the server puts in its place later.
  const prepare = () => {
    closePopover();
    parts = all("section.part");
    mark();
    for (const table of all("table[data-top]")) arrange(table);
    charts = all(".chart > .data").map(chartOf);
    for (const chart of charts) listen(chart);
  };
  document.addEventListener("plexlens:replaced", prepare);
  prepare();

  // A link into something folded opens it; paper shows everything that is folded.
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const folded = target && target.closest("details");
    if (folded) folded.open = true;
  };
  addEventListener("hashchange", reveal);
  reveal();
  let closed = [];
  addEventListener("beforeprint", () => { closed = all("details:not([open])"); for (const one of closed) one.open = true; });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
})();
