// The table of values: only the rows and columns that are seen are in the page, however many there are.

const TALLEST = 6000000; // pixels that a browser scrolls exactly; a longer table is scrolled in proportion

class Table {
  constructor(title) {
    this.window = make("div", { class: "window" });
    this.spacer = make("div", {}, this.window);
    this.holder = make("div", { class: "table", id: "table", tabindex: "0", role: "region", "aria-label": title }, this.spacer);
    this.holder.addEventListener("scroll", () => this.follow());
    this.holder.addEventListener("click", (event) => this.choose(event));
    this.holder.addEventListener("keydown", (event) => this.press(event));
    [this.top, this.left] = [0, 0];
    this.settled = { scrollTop: 0, scrollLeft: 0 };
  }

  // Show a grid: {rows, columns, corner, rowHead(i), columnHead(j), cell(i, j), cursor, onSelect(i, j), addresses}, and
  // perhaps rowTitle(i) and columnTitle(j), which say what is cut in the heads, and how many columns are `copied`.
  show(grid) {
    this.grid = grid;
    this.rowHeight = grid.addresses ? 42 : 28;
    this.headWidth = this.measure([grid.corner, ...this.sample(grid.rows, 40).map((i) => grid.rowHead(i))], 48, 220);
    const seen = this.sample(grid.rows, 24).flatMap((i) => this.sample(grid.columns, 12).map((j) => this.widest(grid.cell(i, j))));
    const heads = this.sample(grid.columns, 24).map((j) => grid.columnHead(j));
    this.columnWidth = this.measure([...heads, ...seen], 64, 240);
    const room = { width: this.headWidth + grid.columns * this.columnWidth, height: 30 + grid.rows * this.rowHeight };
    this.spacer.style.width = `${Math.min(room.width, TALLEST)}px`;
    this.spacer.style.height = `${Math.min(room.height, TALLEST)}px`;
    this.holder.style.height = `${Math.min(room.height + 18, 440)}px`;
    this.draw();
  }

  widest(cell) {
    return this.grid.addresses && cell.address.length > cell.text.length ? cell.address : cell.text;
  }

  sample(count, most) {
    const step = Math.max(1, Math.floor(count / most));
    return Array.from({ length: Math.min(count, most) }, (_, i) => i * step);
  }

  measure(texts, least, most) {
    const longest = Math.max(...texts.map((text) => text.length), 1);
    return Math.max(least, Math.min(most, Math.round(longest * 9.3) + 22));
  }

  get fits() {
    return {
      rows: Math.max(1, Math.floor((this.holder.clientHeight - 30) / this.rowHeight)),
      columns: Math.max(1, Math.floor((this.holder.clientWidth - this.headWidth) / this.columnWidth)),
    };
  }

  // Begin with the row and column to which somebody has scrolled.
  follow() {
    const { scrollTop, scrollLeft, scrollHeight, scrollWidth, clientHeight, clientWidth } = this.holder;
    const isOwn = Math.abs(scrollTop - this.settled.scrollTop) < 1.5 && Math.abs(scrollLeft - this.settled.scrollLeft) < 1.5;
    if (isOwn || !this.grid) return;
    this.settled = { scrollTop, scrollLeft };
    const share = (at, whole, seen) => (whole > seen ? Math.min(1, at / (whole - seen)) : 0);
    this.top = Math.round(share(scrollTop, scrollHeight, clientHeight) * Math.max(0, this.grid.rows - this.fits.rows));
    this.left = Math.round(share(scrollLeft, scrollWidth, clientWidth) * Math.max(0, this.grid.columns - this.fits.columns));
    this.draw();
  }

  // Scroll as little as is needed to see a cell.
  reveal(row, column) {
    const { rows, columns } = this.fits;
    const move = (at, wanted, seen, count) =>
      Math.max(0, Math.min(count - seen, wanted < at ? wanted : wanted >= at + seen ? wanted - seen + 1 : at));
    this.top = move(this.top, row, rows, this.grid.rows);
    this.left = move(this.left, column, columns, this.grid.columns);
    const { scrollHeight, scrollWidth, clientHeight, clientWidth } = this.holder;
    this.holder.scrollTop = (this.top / Math.max(1, this.grid.rows - rows)) * (scrollHeight - clientHeight);
    this.holder.scrollLeft = (this.left / Math.max(1, this.grid.columns - columns)) * (scrollWidth - clientWidth);
    this.settled = { scrollTop: this.holder.scrollTop, scrollLeft: this.holder.scrollLeft };
    this.draw();
  }

  draw() {
    const { grid } = this;
    this.window.style.width = `${this.holder.clientWidth}px`;
    this.window.style.height = `${this.holder.clientHeight}px`;
    this.top = Math.max(0, Math.min(this.top, grid.rows - this.fits.rows));
    this.left = Math.max(0, Math.min(this.left, grid.columns - this.fits.columns));
    const rows = Array.from({ length: Math.min(this.fits.rows + 1, grid.rows - this.top) }, (_, i) => this.top + i);
    const columns = Array.from({ length: Math.min(this.fits.columns + 1, grid.columns - this.left) }, (_, j) => this.left + j);
    const widths = make("colgroup", {}, make("col"), ...columns.map(() => make("col")));
    [...widths.children].forEach((column, j) => (column.style.width = `${j ? this.columnWidth : this.headWidth}px`));
    const heads = columns.map((j) => make("th", { scope: "col", "aria-colindex": j + 2, title: (grid.columnTitle || grid.columnHead)(j) }, isolate(grid.columnHead(j))));
    const table = make(
      "table",
      { "aria-rowcount": grid.rows + 1, "aria-colcount": grid.columns + 1 },
      widths,
      make("thead", {}, make("tr", {}, make("th", { scope: "col", class: "corner" }, isolate(grid.corner)), ...heads)),
      make("tbody", {}, ...rows.map((i) => this.drawRow(i, columns))),
    );
    table.style.width = `${this.headWidth + columns.length * this.columnWidth}px`;
    this.window.replaceChildren(table);
  }

  drawRow(i, columns) {
    const head = make("th", { scope: "row", title: (this.grid.rowTitle || this.grid.rowHead)(i) }, isolate(this.grid.rowHead(i)));
    const row = make("tr", { "aria-rowindex": i + 2 }, head, ...columns.map((j) => this.drawCell(i, j)));
    row.style.height = `${this.rowHeight}px`;
    return row;
  }

  drawCell(i, j) {
    const { text, address, className = "", note = "" } = this.grid.cell(i, j);
    const isCursor = this.grid.cursor && this.grid.cursor[0] === i && this.grid.cursor[1] === j;
    const title = [text, address && `cell ${address}`, note].filter(Boolean).join("\n");
    return make(
      "td",
      { class: `${className}${isCursor ? " cursor" : ""}`, "data-row": i, "data-column": j, title, "aria-current": isCursor && "true" },
      isolate(text),
      note ? make("span", { class: "unseen" }, ` ${note}`) : null,
      this.grid.addresses ? make("small", {}, address) : null,
    );
  }

  choose(event) {
    const cell = event.target.closest("td");
    if (cell) this.grid.onSelect(Number(cell.dataset.row), Number(cell.dataset.column));
  }

  press(event) {
    const [row, column] = this.grid.cursor || [this.top, this.left];
    const moved = moveByKey(event, [row, column], [this.grid.rows, this.grid.columns], this.fits.rows);
    if (!moved) return;
    event.preventDefault();
    this.grid.onSelect(...moved);
  }
}

// Where a key leads from a row and a column; null for a key that leads nowhere.
function moveByKey(event, [row, column], [rows, columns], page) {
  if (event.altKey || event.metaKey) return null;
  const far = event.ctrlKey;
  const moves = {
    ArrowUp: [far ? 0 : row - 1, column],
    ArrowDown: [far ? rows - 1 : row + 1, column],
    ArrowLeft: [row, far ? 0 : column - 1],
    ArrowRight: [row, far ? columns - 1 : column + 1],
    PageUp: [row - page, column],
    PageDown: [row + page, column],
    Home: [far ? 0 : row, 0],
    End: [far ? rows - 1 : row, columns - 1],
  };
  const move = moves[event.key];
  if (!move) return null;
  const within = (at, count) => Math.max(0, Math.min(count - 1, at));
  return [within(move[0], rows), within(move[1], columns)];
}
