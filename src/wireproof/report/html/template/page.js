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
      if (!head.textContent.trim()) return;
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

  /* All pairs: drawn from packed numbers. From afar a point is the slowest of the pairs that it covers: a mean, or the
     pair that happens to stand there, would hide the one that matters. */

  const unpacked = (text, kind) => new kind(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer);

  class Pairs {
    constructor(figure) {
      const data = JSON.parse(figure.querySelector("script").textContent);
      Object.assign(this, { data, figure, count: data.hosts.length, cursor: -1, step: -1 });
      this.values = unpacked(data.value, Uint16Array);
      this.widths = unpacked(data.width, Uint8Array);
      this.marks = unpacked(data.mark, Uint8Array);
      this.at = data.at ? unpacked(data.at, Uint32Array) : Uint32Array.from(this.values.keys());
      this.place = new Int32Array(this.count * this.count).fill(-1);
      this.at.forEach((cell, i) => { if (this.values[i]) this.place[cell] = i; });
      this.slowest = this.place.filter((i) => i >= 0).sort((a, b) => this.values[a] - this.values[b]);
      this.canvas = figure.querySelector("canvas");
      this.said = made("output", { "aria-live": "polite" });
      this.canvas.after(this.said);
      this.whole();
      this.listen();
      figure.hidden = false;
      this.draw();
    }

    rate(i) { return ((this.values[i] - 1) / 65534) * this.data.most; }

    told(i) {
      const { hosts, verdicts, proofs, reference, narrowest, decades, widths } = this.data;
      const [row, column] = [Math.floor(this.at[i] / this.count), this.at[i] % this.count];
      const half = 100 * narrowest * 10 ** (((this.widths[i] - 1) / widths) * decades);
      const interval = this.widths[i] ? `±${half < 10 ? half.toFixed(1) : half.toFixed(0)} %` : "±?";
      const share = ((100 * this.rate(i)) / reference).toFixed(0);
      const [verdict, proof] = [verdicts[this.marks[i] % 4], proofs[this.marks[i] >> 2]];
      const rate = Number(this.rate(i).toPrecision(4));
      return `${hosts[row]} → ${hosts[column]}: ${rate} MB/s ${interval}, ${share} %, ${proof}, ${verdict}`;
    }

    draw() {
      const [pen, edge] = [this.canvas.getContext("2d"), this.canvas.width];
      const size = edge / this.span;
      pen.clearRect(0, 0, edge, edge);
      const least = size < 2 ? new Uint16Array(edge * edge) : null;
      for (let i = 0; i < this.at.length; i += 1) {
        const [row, column] = [Math.floor(this.at[i] / this.count) - this.top, (this.at[i] % this.count) - this.left];
        if (!this.values[i] || row < 0 || column < 0 || row >= this.span || column >= this.span) continue;
        if (!least) {
          pen.fillStyle = this.shade(this.values[i]);
          pen.fillRect(column * size, row * size, Math.max(1, size - (size > 6)), Math.max(1, size - (size > 6)));
          continue;
        }
        for (let y = Math.floor(row * size); y < Math.max((row + 1) * size, row * size + 1) && y < edge; y += 1)
          for (let x = Math.floor(column * size); x < Math.max((column + 1) * size, column * size + 1) && x < edge; x += 1)
            if (!least[y * edge + x] || this.values[i] < least[y * edge + x]) least[y * edge + x] = this.values[i];
      }
      if (least) this.paint(pen, least, edge);
      if (this.cursor >= 0) this.frame(pen, size);
    }

    level(value) {
      const top = this.data.shades.length - 1;
      const share = ((value - 1) / 65534) * (this.data.most / this.data.reference);
      return Math.max(0, Math.min(top, Math.round(top * share)));
    }

    shade(value) { return this.data.shades[this.level(value)]; }

    paint(pen, least, edge) {
      const colours = this.data.shades.map((text) => text.match(/\d+/g).map(Number));
      const image = pen.createImageData(edge, edge);
      least.forEach((value, i) => {
        if (value) image.data.set([...colours[this.level(value)], 255], 4 * i);
      });
      pen.putImageData(image, 0, 0);
    }

    frame(pen, size) {
      const [row, column] = [Math.floor(this.at[this.cursor] / this.count), this.at[this.cursor] % this.count];
      pen.strokeStyle = getComputedStyle(this.canvas).color;
      pen.lineWidth = 2;
      pen.strokeRect((column - this.left) * size - 2, (row - this.top) * size - 2, size + 4, size + 4);
    }

    whole() { Object.assign(this, { left: 0, top: 0, span: this.count }); }

    zoom(factor) {
      const at = this.cursor >= 0 ? this.at[this.cursor] : (this.top + this.span / 2) * this.count + this.left + this.span / 2;
      this.span = Math.max(Math.min(8, this.count), Math.min(this.count, Math.round(this.span * factor)));
      this.centre(Math.floor(at / this.count), Math.floor(at % this.count));
    }

    centre(row, column) {
      const within = (at) => Math.round(Math.max(0, Math.min(this.count - this.span, at - this.span / 2)));
      Object.assign(this, { top: within(row), left: within(column) });
    }

    go(i) {
      if (i === undefined || i < 0) return;
      this.cursor = i;
      this.said.textContent = this.told(i);
      const [row, column] = [Math.floor(this.at[i] / this.count), this.at[i] % this.count];
      const seen = row >= this.top && row < this.top + this.span && column >= this.left && column < this.left + this.span;
      if (!seen) this.centre(row, column);
      this.draw();
    }

    /* The nearest pair in a direction: of a sparse map most neighbours are empty. */
    next(down, right) {
      if (this.cursor < 0) return this.slowest[0];
      const [row, column] = [Math.floor(this.at[this.cursor] / this.count), this.at[this.cursor] % this.count];
      for (let far = 1; far < this.count; far += 1) {
        const cell = (row + down * far) * this.count + column + right * far;
        const outside = row + down * far < 0 || row + down * far >= this.count || column + right * far < 0 || column + right * far >= this.count;
        if (outside) break;
        if (this.place[cell] >= 0) return this.place[cell];
      }
      return this.cursor;
    }

    press(key) {
      const ways = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] };
      if (ways[key]) return this.go(this.next(...ways[key])), true;
      if (key === "n") return this.go(this.slowest[(this.step = (this.step + 1) % this.slowest.length)]), true;
      if (key === "+" || key === "=") this.zoom(0.5);
      else if (key === "-") this.zoom(2);
      else if (key === "Home") this.whole();
      else return false;
      return this.draw(), true;
    }

    listen() {
      const tools = made("div", { class: "tools" });
      for (const [key, text] of [["+", "zoom in"], ["-", "zoom out"], ["Home", "all"], ["n", "next slowest"]]) {
        const button = made("button", { type: "button" }, text);
        button.addEventListener("click", () => this.press(key));
        tools.append(button);
      }
      this.canvas.before(tools);
      this.canvas.addEventListener("keydown", (event) => {
        if (!event.ctrlKey && !event.metaKey && !event.altKey && this.press(event.key)) event.preventDefault();
      });
      const under = (event) => {
        const box = this.canvas.getBoundingClientRect();
        const row = Math.floor(this.top + ((event.clientY - box.y) / box.height) * this.span);
        const column = Math.floor(this.left + ((event.clientX - box.x) / box.width) * this.span);
        return this.place[row * this.count + column];
      };
      this.canvas.addEventListener("pointermove", (event) => this.go(under(event)));
      this.canvas.addEventListener("dblclick", (event) => { this.go(under(event)); this.zoom(0.5); this.draw(); });
    }
  }

  /* What a link points at is shown */

  function reveal() {
    if (location.hash === "#annex") document.querySelectorAll("details").forEach((one) => { one.open = true; });
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = target; one; one = one.parentElement) if (one.tagName === "DETAILS") one.open = true;
    if (target) target.scrollIntoView();
  }

  addEventListener("hashchange", reveal);
  document.querySelectorAll("table.data").forEach(tend);
  document.querySelectorAll("figure.drawing").forEach(tell);
  for (const figure of document.querySelectorAll("figure.pairs")) new Pairs(figure);
  if (location.hash) reveal();
  document.documentElement.dataset.ready = "yes";
})();
