"use strict";
(() => {
  // What htmx puts in the place of the page's main part is prepared like what was there at first; who uses the keyboard
  // goes on from its top.
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.closest?.(".search")) return;
    document.dispatchEvent(new Event("plexlens:replaced"));
    document.getElementById("main").focus({ preventScroll: true });
  });
  // The search box: a slash leads to it, arrow keys go through what is found, Escape leaves it.
  const box = () => document.getElementById("q"), suggested = () => document.getElementById("suggested");
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, textarea, select");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      box().focus();
      box().select();
      event.preventDefault();
    }
    if (!event.target.closest?.(".search")) return;
    const links = [...suggested().querySelectorAll("a")];
    if (event.key === "Escape") {
      suggested().replaceChildren();
      box().focus();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && links.length) {
      const next = links.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1);
      (next < 0 ? box() : links[Math.min(next, links.length - 1)]).focus();
      event.preventDefault();
    }
  });
  document.addEventListener("focusout", (event) => {
    const search = event.target.closest?.(".search");
    if (search && event.relatedTarget && !search.contains(event.relatedTarget)) suggested().replaceChildren();
  });
  // What is found takes its ids along, and a page has each once.
  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.target.id === "suggested") for (const one of event.target.querySelectorAll("[id]")) one.removeAttribute("id");
  });
  // Numbers in a table lead to their own pages; arrow keys go from one to the next.
  document.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    const cell = move && event.target.closest?.("td, th");
    if (!cell || !event.target.matches("a.lead, a.n")) return;
    const rows = [...cell.closest("tbody").rows].filter((row) => row.offsetParent);
    let row = rows.indexOf(cell.parentElement), column = cell.cellIndex;
    for (;;) {
      row += move[0];
      column += move[1];
      const next = rows[row]?.cells[column];
      if (!next) return;
      const link = next.querySelector("a.lead, a.n");
      if (!link) continue;
      link.focus();
      event.preventDefault();
      return;
    }
  });
  // A name of a table or column goes into the query, in place of what is selected there.
  document.addEventListener("click", (event) => {
    const name = event.target.closest?.("button.name")?.dataset.name;
    const query = document.getElementById("query");
    if (!name || !query) return;
    const before = query.value.slice(0, query.selectionStart);
    const plain = /^[a-z_][a-z0-9_]*$/i.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
    const space = before && !/[\s(.]$/.test(before) ? " " : "";
    query.setRangeText(space + plain, query.selectionStart, query.selectionEnd, "end");
    query.focus();
  });
  // Empty fields of a form would stand in the address.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "get") return;
    for (const field of event.target.elements) if (field.name && field.value === "") field.disabled = true;
  }, true);
  addEventListener("pageshow", () => { for (const field of document.querySelectorAll("form :disabled")) field.disabled = false; });

  // A stretch of time drawn over the course with the mouse becomes the selection.
  let brush = null;
  const place = (event, area) => {
    const box = area.getBoundingClientRect();
    return Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) * 1000;
  };
  document.addEventListener("pointerdown", (event) => {
    const area = event.target.closest(".chart .plot:not(.xy, .by-hour)")?.querySelector(".area");
    if (!area || !document.querySelector(".selecting") || event.pointerType !== "mouse" || event.button !== 0) return;
    const shade = document.createElement("div");
    shade.className = "brush";
    area.append(shade);
    brush = { area, shade, from: place(event, area), to: place(event, area) };
    event.preventDefault();
  });
  document.addEventListener("pointermove", (event) => {
    if (!brush) return;
    brush.to = place(event, brush.area);
    brush.shade.style.left = `${Math.min(brush.from, brush.to) / 10}%`;
    brush.shade.style.width = `${Math.abs(brush.to - brush.from) / 10}%`;
  });
  document.addEventListener("pointerup", () => {
    if (!brush) return;
    const { area, shade, from, to } = brush;
    brush = null;
    shade.remove();
    if (Math.abs(to - from) < 12) return;
    const figure = area.closest(".chart");
    const data = JSON.parse(figure.querySelector(".data").textContent);
    const inside = data.t.map((_, i) => i).filter((i) => data.w[i] > Math.min(from, to) && data.x[i] < Math.max(from, to));
    if (!inside.length) return;
    // Local time of unknown offset is written without one.
    const zone = data.z ? "" : "Z";
    const text = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19) + zone;
    const address = new URL(location.href);
    address.hash = "";
    address.searchParams.set("from", text(data.t[inside[0]]));
    address.searchParams.set("to", text(Math.max(...inside.map((i) => data.e[i]))));
    location.assign(address);
  });
})();
