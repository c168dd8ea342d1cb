"use strict";
/* The map tells the node under the pointer, and a press on it opens that node. Without this a group's link leads to its
   nodes; every text goes through textContent, never through markup. */
(function () {
  const source = document.getElementById("map-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const told = document.getElementById("told");
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

  function age(seconds) {
    if (seconds < 0) return "never proven";
    const [size, unit] = units.find(([least]) => seconds >= least) || [1, "s"];
    return `last proven ${Math.round(seconds / size)} ${unit} ago`;
  }

  function under(group, event) {
    const drawing = document.querySelectorAll(".map svg")[group];
    const box = drawing.getBoundingClientRect();
    const columns = data.columns[group];
    const rows = Math.ceil(data.names[group].length / columns);
    const column = Math.floor(((event.clientX - box.x) / box.width) * columns);
    const row = Math.floor(((event.clientY - box.y) / box.height) * rows);
    if (column < 0 || column >= columns || row < 0 || row >= rows) return -1;
    const at = row * columns + column;
    return at < data.names[group].length ? at : -1;
  }

  document.querySelectorAll(".map a").forEach((link, group) => {
    link.addEventListener("pointermove", (event) => {
      const at = under(group, event);
      if (at < 0) return;
      const state = data.words[Number(data.states[group][at])];
      told.textContent = `${data.names[group][at]}: ${state}, ${age(data.ages[group][at])}`;
    });
    link.addEventListener("focus", () => { // by the keyboard: a pointer has read its node
      if (link.matches(":focus-visible")) told.textContent = link.getAttribute("aria-label");
    });
    link.addEventListener("click", (event) => {
      const at = event.detail ? under(group, event) : -1; // 0: by the keyboard
      if (at < 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      location.assign(data.odd[`${group},${at}`] || `node-${data.names[group][at]}.html`);
    });
  });
})();
