// Moving the cursor, and drawing what depends on it.

const LONG_TEXT = 300; // characters that take a few lines
const cursor = () => state.axes.map((axis) => (axis === null ? 0 : state.index[axis]));

function indexAt(row, column) {
  return state.index.map((position, axis) => (axis === state.axes[0] ? row : axis === state.axes[1] ? column : position));
}

function moveCursor(row, column) {
  state.index = indexAt(row, column);
  drawCursor();
}

function setIndex(axis, position) {
  const index = [...state.index];
  index[axis] = position;
  setWholeIndex(index);
}

function setWholeIndex(index) {
  const isSame = index.every((position, axis) => state.axes.includes(axis) || position === state.index[axis]);
  state.index = index;
  if (isSame) drawCursor();
  else drawSlice();
}

// Draw all of another slice.
function drawSlice() {
  noteLink();
  const [array] = groups[state.group];
  planes = array.count ? state.panels.map((panel) => takePlane(panel.array, state.index, state.axes, panel.number)) : [];
  view.heading.replaceChildren(isolate(array.entry.name), array.shape.length ? sliceExpression(array).replace(/^.*\[(?=[^[]*$)/s, "[") : "");
  for (const input of view.sliders.querySelectorAll("input")) {
    const axis = Number(input.dataset.axis);
    input.value = state.index[axis];
    const text = positionText(array, axis, state.index[axis]);
    byId(`slider-${axis}-text`).textContent = `${text}  of ${countText(array.size(axis))}`;
    input.setAttribute("aria-valuetext", text);
  }
  if (!array.count) {
    view.readout.textContent = "no elements";
    view.table.holder.hidden = true;
    return;
  }
  if (view.histogram) {
    const shown = state.panels.findIndex((panel) => panel.isNumeric);
    const scale = findScale(planes[shown].numbers, state.scale.endsWith("full") || planes[shown].numbers.length < 100);
    view.histogram.canvas.setAttribute("aria-label", drawHistogram(view.histogram.canvas, planes[shown].numbers, scale));
  }
  drawStatistics(array);
  drawCursor();
}

// Draw all that depends on the cursor.
function drawCursor() {
  const [array] = groups[state.group];
  const scale = planes.length && view.maps.length ? commonScale() : null;
  for (const map of view.maps) drawMap(array, map, scale);
  view.lines.forEach((line, number) => drawLineOf(array, line, state.axes[number]));
  readOut(state.index);
  drawTable();
  view.table.reveal(...tableCursor());
  noteLink();
}

// One scale for arrays side by side; the array's own is kept, for it takes a while.
function commonScale() {
  const [of, range] = state.scale.split(" ");
  const scales = state.panels.map((panel, number) => {
    if (panel.isDifference || !panel.isNumeric) return null;
    if (of === "slice") return findScale(planes[number].numbers, range === "full");
    panel.scales = panel.scales || {};
    if (!panel.scales[range]) {
      const numbers = Float64Array.from({ length: panel.array.count }, (_, place) => panel.number(place));
      panel.scales[range] = findScale(numbers, range === "full");
    }
    return panel.scales[range];
  });
  const known = scales.filter((scale) => scale && !scale.isEmpty);
  if (!known.length) return { low: 0, high: 0, isEmpty: true };
  return { low: Math.min(...known.map((scale) => scale.low)), high: Math.max(...known.map((scale) => scale.high)) };
}

function differenceScale(plane) {
  const { low, high, isEmpty } = findScale(plane.numbers, state.scale.endsWith("full"));
  const most = Math.max(Math.abs(low), Math.abs(high));
  return { low: -most, high: most, isEmpty };
}

function drawMap(array, map, scale) {
  const number = state.panels.indexOf(map.panel);
  const plane = planes[number];
  const [rowAxis, columnAxis] = state.axes;
  const marks = [...map.panel.array.marks.keys()].map((place) => map.panel.array.indexOf(place)).filter(isInSlice);
  map.drawn = drawHeatMap(map.canvas, plane, {
    scale: map.panel.isDifference ? differenceScale(plane) : scale,
    palette: map.panel.isDifference ? palettes.diverging : palettes.rising,
    cursor: cursor(),
    marks: map.panel.isDifference ? [] : marks.map((index) => [index[rowAxis], index[columnAxis]]),
    rowTexts: (rows) => array.labelTexts(rowAxis, rows),
    columnTexts: (columns) => array.labelTexts(columnAxis, columns),
    upward: array.north(rowAxis) === "last",
    rowTitle: array.dimension(rowAxis),
    columnTitle: array.dimension(columnAxis),
  });
  const size = `${plane.rows} rows, ${plane.columns} columns`;
  map.canvas.setAttribute("aria-label", `Heat map of ${map.panel.title}, ${size}; arrow keys move the cursor`);
}

const isInSlice = (index) => index.every((position, axis) => state.axes.includes(axis) || position === state.index[axis]);

function positionText(array, axis, position) {
  const index = array.wholeIndex(axis, position);
  return array.hasLabels(axis) ? `${array.label(axis, position)}  [${index}]` : `[${index}]`;
}

// The same for the head of a table, where a long label is cut before its index.
function headText(array, axis, position) {
  const index = array.wholeIndex(axis, position);
  return array.hasLabels(axis) ? `${cutText(array.label(axis, position), 8, 8)}  [${index}]` : `[${index}]`;
}

function drawLineOf(array, line, axis) {
  line.axis = axis;
  const count = array.shape[axis];
  const start = array.place(state.index) - state.index[axis] * array.strides[axis];
  const series = state.panels
    .filter((panel) => panel.isNumeric && (!panel.isDifference || !state.panels[0].isNumeric))
    .map((panel) => ({ colour: panel.colour, value: (i) => panel.number(start + i * array.strides[axis]) }));
  const title = `along ${array.dimension(axis)}`;
  const height = array.shape.length === 1 ? 280 : 190;
  line.drawn = drawLines(line.canvas, series, count, { cursor: state.index[axis], texts: (places) => array.labelTexts(axis, places), title, height });
  line.canvas.setAttribute("aria-label", `Line ${title}, ${count} elements`);
}

function readOut(index) {
  const [array] = groups[state.group];
  const place = array.place(index);
  const parts = [make("b", {}, isolate(array.entry.name), `[${index.length ? array.wholeIndices(index).join(", ") : "()"}]`)];
  for (const panel of state.panels) {
    const name = state.panels.length > 1 ? [isolate(panel.isDifference ? "difference" : panel.title), " "] : [];
    const text = panel.text(place);
    const shown = isolate(text, "code");
    if (text.length > LONG_TEXT) [shown.className, shown.tabIndex] = ["long", 0];
    parts.push(make("span", { class: panel.isMissing(place) ? "missing" : "value" }, ...name, shown));
  }
  const address = array.address(index);
  if (address) parts.push(make("span", { class: "cell" }, "cell ", isolate(address, "code")));
  index.forEach((position, axis) => {
    if (array.hasLabels(axis)) parts.push(make("span", {}, isolate(array.dimension(axis)), " ", isolate(array.label(axis, position), "code")));
  });
  for (const panel of state.panels) {
    if (!panel.isDifference && panel.array.marks.has(place)) parts.push(make("span", { class: "error" }, isolate(panel.array.marks.get(place))));
  }
  view.readout.replaceChildren(...parts);
}

function drawStatistics(array) {
  const places = function* places({ rows, columns, placeAt }) {
    for (let row = 0; row < rows; row += 1) for (let column = 0; column < columns; column += 1) yield placeAt(row, column);
  };
  const [panel] = state.panels;
  const { elements } = panel.array;
  const slice = describeStatistics(elements, computeStatistics(elements, places(planes[0])));
  if (!panel.whole) {
    const all = function* all() {
      for (let place = 0; place < panel.array.count; place += 1) yield place;
    };
    panel.whole = new Map(describeStatistics(elements, computeStatistics(elements, all())));
  }
  const isWhole = array.shape.length < 3;
  const rows = [...panel.whole].map(([title, text]) => {
    const own = (slice.find(([name]) => name === title) || [title, "0"])[1];
    return make("tr", {}, make("th", { scope: "row" }, title), isWhole ? null : make("td", {}, own), make("td", {}, text));
  });
  const head = make("tr", {}, make("td"), isWhole ? null : make("th", { scope: "col" }, "slice"), make("th", { scope: "col" }, array.isExcerpt ? "on the page" : "array"));
  const of = state.panels.length > 1 ? isolate(` of ${panel.title}`) : "";
  const caption = make("caption", {}, elements.isComplex ? "Magnitudes" : "Statistics", of);
  view.statistics.replaceChildren(make("table", { class: "plain" }, caption, make("thead", {}, head), make("tbody", {}, ...rows)));
}
