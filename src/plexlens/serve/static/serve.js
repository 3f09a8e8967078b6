"use strict";
(() => {
  // What htmx puts in the place of the page's main part is prepared like what was there at first.
  document.addEventListener("htmx:afterSettle", () => document.dispatchEvent(new Event("plexlens:replaced")));
  // Empty fields of a form would stand in the address.
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "get") return;
    for (const field of event.target.elements) if (field.name && field.value === "") field.disabled = true;
  });
  addEventListener("pageshow", () => { for (const field of document.querySelectorAll("form :disabled")) field.disabled = false; });
})();
