"use strict";
(() => {
  // What htmx puts in the place of the page's main part is prepared like what was there at first; who uses the keyboard
  // goes on from its top.
  document.addEventListener("htmx:afterSettle", () => {
    document.dispatchEvent(new Event("plexlens:replaced"));
    document.getElementById("main").focus({ preventScroll: true });
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
    const area = event.target.closest("#course .plot")?.querySelector(".area");
    if (!area || event.pointerType !== "mouse" || event.button !== 0) return;
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
    address.searchParams.set("from", text(data.t[inside[0]]));
    address.searchParams.set("to", text(Math.max(...inside.map((i) => data.e[i]))));
    location.assign(address);
  });
})();
