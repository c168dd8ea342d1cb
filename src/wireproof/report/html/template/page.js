"use strict";
/* What the page does beyond standing there: tables are sorted, filtered and saved, figures tell their numbers. All of it
   is added to what is there without scripts; every text goes through textContent, never through markup. */
(function () {
  const MANY_ROWS = 8;
  const order = new Intl.Collator("en", { numeric: true });

  function made(tag, attributes, text) {
    const one = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) one.setAttribute(name, value);
    if (text !== undefined) one.textContent = text;
    return one;
  }

  /* Tables */

  const value = (row, column) => row.cells[column].dataset.v ?? row.cells[column].textContent.trim();

  function compared(a, b) {
    const [x, y] = [Number(a), Number(b)];
    if (a !== "" && b !== "" && !Number.isNaN(x) && !Number.isNaN(y)) return x - y;
    return order.compare(a, b);
  }

  function sort(table, column) {
    const head = table.tHead.rows[0].cells[column];
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const one of table.tHead.rows[0].cells) one.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = table.tBodies[0];
    const known = (row) => !["", "-", "unknown"].includes(value(row, column));
    const rows = [...body.rows].sort((a, b) => {
      const last = known(b) - known(a);
      return last || (down ? -1 : 1) * compared(value(a, column), value(b, column));
    });
    body.append(...rows);
  }

  function filter(table, words, count) {
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word));
      shown += !row.hidden;
    }
    count.textContent = wanted.length ? `${shown} of ${table.tBodies[0].rows.length} rows` : "";
  }

  /* RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe. */
  function field(text, number) {
    const safe = !number && /^[=+\-@\t\r]/.test(text) && text !== "-" ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  function csv(table) {
    const heads = [...table.tHead.rows[0].cells];
    const lines = [heads.map((one) => field(one.dataset.name || one.textContent.trim())).join(",")];
    for (const row of table.tBodies[0].rows) {
      if (row.hidden) continue;
      const cells = heads.map((_, i) => field(value(row, i).replace(/\s+/g, " "), "v" in row.cells[i].dataset));
      lines.push(cells.join(","));
    }
    return lines.join("\r\n") + "\r\n";
  }

  function save(table) {
    const link = made("a", { download: `${table.dataset.file}.csv` });
    link.href = URL.createObjectURL(new Blob([csv(table)], { type: "text/csv" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  function tend(table) {
    const name = table.caption.textContent.split(":")[0];
    const tools = made("div", { class: "tools" });
    const count = made("output");
    if (table.tBodies[0].rows.length > MANY_ROWS) {
      const search = made("input", { type: "search", "aria-label": `Filter: ${name}`, placeholder: "filter rows" });
      search.addEventListener("input", () => filter(table, search.value, count));
      tools.append(search);
    }
    const left = Number(table.dataset.left || 0);
    const button = made("button", { type: "button", "aria-label": `Save as CSV: ${name}` }, "CSV");
    button.addEventListener("click", () => save(table));
    tools.append(button, count);
    if (left) tools.append(made("span", { class: "muted" }, `${left} rows of the result are not in this page`));
    table.parentElement.before(tools);
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const press = made("button", { type: "button" });
      press.append(...head.childNodes);
      press.addEventListener("click", () => sort(table, column));
      head.append(press);
    });
  }

  /* Figures: the nearest mark under the pointer, or one after the other by the arrow keys */

  function tell(figure) {
    const said = made("output", { "aria-live": "polite" });
    figure.append(said);
    for (const drawing of figure.querySelectorAll("svg.figure[role=img]")) {
      const dots = [...drawing.querySelectorAll(".dot")].filter((dot) => dot.querySelector("title"));
      if (!dots.length) continue;
      let at = -1;
      const go = (next) => {
        if (at >= 0) dots[at].classList.remove("here");
        at = (next + dots.length) % dots.length;
        dots[at].classList.add("here");
        said.textContent = dots[at].querySelector("title").textContent;
      };
      drawing.setAttribute("tabindex", "0");
      drawing.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        go(at < 0 && step < 0 ? dots.length - 1 : at + step);
      });
      drawing.addEventListener("pointermove", (event) => {
        let [best, least] = [-1, 30 * 30];
        dots.forEach((dot, i) => {
          const box = dot.getBoundingClientRect();
          const far = (box.x + box.width / 2 - event.clientX) ** 2 + (box.y + box.height / 2 - event.clientY) ** 2;
          if (far < least) [best, least] = [i, far];
        });
        if (best >= 0) go(best);
      });
    }
  }

  /* What a link points at is shown, and paper has no folds */

  function reveal() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (target) target.scrollIntoView();
  }

  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const one of folded) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of folded) one.open = false; });
  addEventListener("hashchange", reveal);
  document.querySelectorAll("table.data").forEach(tend);
  document.querySelectorAll("figure.drawing").forEach(tell);
  if (location.hash) reveal();
  document.documentElement.dataset.ready = "yes";
})();
