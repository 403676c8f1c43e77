// What stands in the table of values, and the tables of awkward arrays.

const tableCursor = () => (groups[state.group][0].shape.length < 2 ? [cursor()[0], 0] : cursor());

function drawTable() {
  const [array] = groups[state.group];
  view.table.show(array.shape.length < 2 ? listGrid(array) : planeGrid(array));
}

function describeCell(panel, place) {
  const note = panel.isDifference ? "" : panel.array.marks.get(place) || "";
  const { kinds } = panel.array.elements;
  const isText = !panel.isNumeric && (!kinds || kinds[place] === 3);
  const className = [panel.isMissing(place) && "missing", note && "marked", isText && "text"].filter(Boolean).join(" ");
  return { text: panel.text(place), className, note };
}

// Of two axes: an element in each cell.
function planeGrid(array) {
  const panel = state.panels[state.shown];
  const plane = planes[state.shown];
  const [rowAxis, columnAxis] = state.axes;
  return {
    rows: plane.rows,
    columns: plane.columns,
    corner: `${array.dimension(rowAxis)} \\ ${array.dimension(columnAxis)}`,
    rowHead: (row) => headText(array, rowAxis, row),
    columnHead: (column) => headText(array, columnAxis, column),
    rowTitle: (row) => positionText(array, rowAxis, row),
    columnTitle: (column) => positionText(array, columnAxis, column),
    cell: (row, column) => ({
      ...describeCell(panel, plane.placeAt(row, column)),
      address: array.entry.cells ? array.address(indexAt(row, column)) : "",
    }),
    addresses: state.addresses && !panel.isDifference,
    cursor: cursor(),
    onSelect: moveCursor,
  };
}

// Of one axis: an element in each row, with its cell beside it.
function listGrid(array) {
  const columns = state.panels.map((panel) => panel);
  const hasCells = Boolean(array.entry.cells);
  const indexOf = (row) => (array.shape.length ? [row] : []);
  return {
    rows: Math.max(array.count, 0),
    columns: columns.length + (hasCells ? 1 : 0),
    copied: columns.length,
    corner: array.shape.length ? array.dimension(0) : "",
    rowHead: (row) => (array.shape.length ? headText(array, 0, row) : "()"),
    rowTitle: (row) => (array.shape.length ? positionText(array, 0, row) : ""),
    columnHead: (column) => (column < columns.length ? (columns.length > 1 ? columns[column].title : "value") : "cell"),
    cell: (row, column) =>
      column < columns.length
        ? { ...describeCell(columns[column], row), address: "" }
        : { text: array.address(indexOf(row)), address: "", className: "address" },
    addresses: false,
    cursor: [cursor()[0], 0],
    onSelect: (row) => moveCursor(row, 0),
  };
}

function showTidyTable(entry, columns) {
  const table = new Table(`Table ${entry.name}`);
  const cursorAt = [0, 0];
  const grid = {
    rows: entry.shape[0],
    columns: columns.length,
    corner: "row",
    rowHead: String,
    columnHead: (column) => columns[column].entry.name,
    cell: (row, column) => {
      const { elements } = columns[column];
      const isText = !elements.isNumeric && (!elements.kinds || elements.kinds[row] === 3);
      return { text: elements.text(row), address: "", className: elements.isMissing(row) ? "missing" : isText ? "text" : "" };
    },
    addresses: false,
    cursor: cursorAt,
    onSelect: (row, column) => {
      [cursorAt[0], cursorAt[1]] = [row, column];
      table.draw();
      table.reveal(row, column);
    },
  };
  view = null;
  byId("view").hidden = false;
  byId("view").replaceChildren(
    make("h2", { id: "slice", dir: "auto" }, entry.name),
    make("p", {}, `${countText(entry.shape[0])} ${entry.shape[0] === 1 ? "row" : "rows"}`),
    describeTableExcerpt(entry),
    make("div", { class: "controls" }, makeTsvButton(() => grid)),
    make("details", {}, make("summary", {}, "Type"), make("pre", { tabindex: "0", dir: "auto" }, entry.note)),
    table.holder,
  );
  table.holder.hidden = !entry.shape[0];
  if (!entry.shape[0]) return;
  table.show(grid);
  state.tidy = table;
}

function describeTableExcerpt({ excerpt }) {
  return excerpt ? make("p", { class: "excerpt", role: "note" }, make("strong", {}, "The page holds "), `${excerpt.text}.`) : "";
}

function showUnread(entry) {
  view = null;
  byId("view").hidden = false;
  byId("view").replaceChildren(make("h2", { id: "slice", dir: "auto" }, entry.name), make("p", { class: "error", dir: "auto" }, `cannot be read: ${entry.note}`));
}
