// The parts of the page that belong to the chosen array.

function buildView(array) {
  const numeric = state.panels.filter((panel) => panel.isNumeric);
  const isPlane = array.shape.length >= 2 && array.count > 0;
  view = {
    heading: make("h2", { id: "slice", dir: "auto" }),
    sliders: make("div", { class: "sliders" }),
    readout: make("p", { id: "readout", class: "readout", role: "status", "aria-label": "Element at the cursor" }),
    found: make("span", { id: "found", role: "status" }),
    maps: isPlane ? numeric.map((panel) => makeMap(panel)) : [],
    lines: array.count && numeric.length ? array.shape.slice(0, 2).map((_, line) => makeFigure(`line-${line}`, "Line")) : [],
    histogram: array.count && numeric.length ? makeFigure("histogram", "Histogram") : null,
    statistics: make("div", { class: "figure", id: "statistics" }),
    table: new Table("Values"),
  };
  byId("view").hidden = false;
  const parts = [
    view.heading,
    describeArray(array.entry),
    describeExcerpt(array.entry),
    makeControls(array),
    view.readout,
    make("div", { class: "maps" }, ...view.maps.map((map) => map.figure)),
    make("div", { class: "figures" }, ...view.lines.map((line) => line.figure), view.histogram && view.histogram.figure, view.statistics),
    makeTableControls(array),
    view.table.holder,
  ];
  byId("view").replaceChildren(...parts.filter(Boolean));
  buildSliders(array);
}

function describeArray(entry) {
  const pairs = [
    ["dtype", entry.dtype],
    ["shape", wholeShape(entry).join(" × ") || "one value"],
    ["dimensions", entry.dims ? entry.dims.join(", ") : ""],
    ["header at", entry.location],
    ...(entry.attrs || []),
  ];
  const shown = pairs.filter(([, text]) => text);
  return make("dl", { class: "facts" }, ...shown.map(([title, text]) => make("div", {}, make("dt", {}, isolate(title)), make("dd", {}, isolate(text)))));
}

// Say of a large array that the page does not hold all of it.
function describeExcerpt({ excerpt }) {
  if (!excerpt) return null;
  const words = " Pictures, statistics and search are of these. Indices and cells are those of the whole array.";
  return make("p", { class: "excerpt", role: "note" }, make("strong", {}, "The page holds "), isolate(`${excerpt.text}.`), words);
}

function makeMap(panel) {
  const canvas = make("canvas", { tabindex: "0", role: "application", "aria-roledescription": "heat map", "aria-describedby": "readout", class: "map" });
  const noise = panel.isDifference && groups[state.group][0].entry.noise;
  const title = noise ? `${panel.title}; ${countText(noise)} only rounded, drawn as none` : panel.title;
  const caption = state.panels.length > 1 ? make("figcaption", {}, isolate(title)) : "";
  const map = { panel, title, canvas, figure: make("figure", { class: "figure" }, caption, make("div", { class: "canvas" }, canvas)) };
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    const { plot, cell } = map.drawn;
    const within = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value)));
    const { rows, columns } = planes[0];
    const row = within((event.clientY - box.top - plot.top) / cell.height, rows);
    return [turnRow(row), within((event.clientX - box.left - plot.left) / cell.width, columns)];
  };
  const turnRow = (row) => (map.drawn.upward ? planes[0].rows - 1 - row : row);
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    moveCursor(...at(event));
  });
  canvas.addEventListener("pointermove", (event) => (event.buttons ? moveCursor(...at(event)) : readOut(indexAt(...at(event)))));
  canvas.addEventListener("pointerleave", () => readOut(state.index));
  canvas.addEventListener("keydown", (event) => {
    const [row, column] = cursor();
    const moved = moveByKey(event, [turnRow(row), column], [planes[0].rows, planes[0].columns], 10);
    if (!moved) return;
    event.preventDefault();
    moveCursor(turnRow(moved[0]), moved[1]);
  });
  return map;
}

function makeFigure(id, title) {
  const canvas = make("canvas", { id, role: "img", "aria-label": title });
  const line = { canvas, figure: make("figure", { class: "figure" }, make("div", { class: "canvas" }, canvas)) };
  canvas.addEventListener("pointerdown", (event) => {
    if (!line.drawn || line.axis === undefined) return;
    const { plot, count } = line.drawn;
    const share = (event.clientX - canvas.getBoundingClientRect().left - plot.left) / plot.width;
    const position = Math.max(0, Math.min(count - 1, Math.round(share * (count - 1))));
    setIndex(line.axis, position);
  });
  return line;
}
