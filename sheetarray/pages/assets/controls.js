// The controls: what is shown, sliders, copying, search.

function makeControls(array) {
  const controls = make("div", { class: "controls", role: "group", "aria-label": "What is shown" });
  if (array.shape.length > 2) {
    const options = array.shape.map((_, axis) => [axis, `${array.dimension(axis)} (${array.size(axis)})`]);
    const choose = (which) => (value) => {
      const axis = Number(value);
      if (state.axes[1 - which] === axis) state.axes[1 - which] = state.axes[which];
      state.axes[which] = axis;
      byId("rows").value = state.axes[0];
      byId("columns").value = state.axes[1];
      buildSliders(array);
      drawSlice();
    };
    controls.append(makeSelect("rows", "Down", options, state.axes[0], choose(0)), makeSelect("columns", "Across", options, state.axes[1], choose(1)));
  } else if (array.shape.length === 2) {
    const turn = () => {
      state.axes.reverse();
      drawSlice();
    };
    controls.append(make("button", { type: "button", id: "turn", on: { click: turn } }, "Swap axes"));
  }
  if (view.maps.length) {
    const onChange = (value) => {
      state.scale = value;
      drawSlice();
    };
    controls.append(makeSelect("scale", "Colours", SCALES, state.scale, onChange));
  }
  const copy = (id, title, text) => make("button", { type: "button", id, on: { click: () => copyShown(text()) } }, title);
  controls.append(
    copy("copy-element", "Copy element", () => array.expression(state.index)),
    copy("copy-slice", "Copy slice", () => sliceExpression(array)),
  );
  if (array.entry.cells) controls.append(copy("copy-cell", "Copy cell", () => array.address(state.index)));
  controls.append(makeTsvButton(() => view.table.grid));
  if (view.maps.length || view.lines.length) {
    controls.append(make("button", { type: "button", id: "save-picture", on: { click: savePicture } }, "Save picture"));
  }
  if (location.protocol !== "about:") { // as in a frame of a notebook
    controls.append(make("button", { type: "button", id: "copy-link", on: { click: copyLink } }, "Copy link"));
  }
  controls.append(view.sliders);
  return controls;
}

const makeTsvButton = (toGrid) => make("button", { type: "button", id: "copy-tsv", on: { click: () => copyTable(toGrid()) } }, "Copy as TSV");

// Copy the values of a table as a spreadsheet takes them: tabs between columns, a line for each row.
async function copyTable(grid) {
  if (!grid) return; // there is no element
  const columns = grid.copied ?? grid.columns;
  const quote = (text) => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const line = (_, row) => Array.from({ length: columns }, (__, column) => quote(grid.cell(row, column).text)).join("\t");
  await copyText(Array.from({ length: grid.rows }, line).join("\n"));
  byId("message").textContent = `Copied: ${countText(grid.rows)} × ${countText(columns)} values`;
}

// Save the heat maps, or the line, as they are drawn: side by side, below their titles.
function savePicture() {
  const figures = view.maps.length ? view.maps : view.lines.slice(0, 1);
  const [margin, head] = [12, figures.length > 1 ? 48 : 28];
  const sizes = figures.map(({ canvas }) => [canvas.clientWidth, canvas.clientHeight]);
  const ratio = window.devicePixelRatio || 1;
  const picture = document.createElement("canvas");
  picture.width = ratio * sizes.reduce((sum, [width]) => sum + width + margin, margin);
  picture.height = ratio * (head + Math.max(...sizes.map(([, height]) => height)) + margin);
  const pen = picture.getContext("2d");
  pen.fillStyle = themeColour("paper");
  pen.fillRect(0, 0, picture.width, picture.height);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = FONT;
  drawText(pen, view.heading.textContent, margin, 10, { align: "left", colour: "ink", longest: picture.width / ratio - 2 * margin });
  let left = margin;
  figures.forEach(({ canvas, title }, number) => {
    const [width, height] = sizes[number];
    if (figures.length > 1) drawText(pen, title, left, 30, { align: "left", longest: width });
    pen.drawImage(canvas, left, head, width, height);
    left += width + margin;
  });
  picture.toBlob((blob) => saveBlob(blob, "picture.png"), "image/png");
}

async function copyShown(text) {
  await copyText(text);
  byId("message").textContent = `Copied: ${text}`;
}

function sliceExpression(array) {
  return array.expression(state.index.map((position, axis) => (state.axes.includes(axis) ? ":" : position)));
}

function buildSliders(array) {
  const free = array.shape.map((_, axis) => axis).filter((axis) => !state.axes.includes(axis));
  view.sliders.replaceChildren(
    ...free.map((axis, number) => {
      const id = `slider-${axis}`;
      const move = () => setIndex(axis, Number(input.value));
      const input = make("input", { type: "range", id, min: 0, max: Math.max(array.shape[axis] - 1, 0), step: 1, "data-axis": axis, on: { input: move } });
      input.value = state.index[axis];
      const key = number < 9 ? make("kbd", { title: `The key ${number + 1} leads here` }, String(number + 1)) : null;
      return make("div", { class: "slider" }, make("label", { for: id }, isolate(array.dimension(axis)), key), input, make("output", { for: id, id: `${id}-text` }));
    }),
  );
}

function makeTableControls(array) {
  const controls = make("div", { class: "controls", role: "group", "aria-label": "Table and search" });
  if (array.shape.length > 1 && state.panels.length > 1) {
    const options = state.panels.map((panel, number) => [number, panel.title]);
    const onChange = (value) => {
      state.shown = Number(value);
      drawTable();
      noteLink();
    };
    controls.append(makeSelect("panel", "Table of", options, state.shown, onChange));
  }
  if (array.shape.length > 1 && array.entry.cells) {
    const onChange = () => {
      state.addresses = box.checked;
      drawTable();
      noteLink();
    };
    const box = make("input", { type: "checkbox", id: "addresses", on: { change: onChange } });
    box.checked = state.addresses;
    controls.append(make("div", { class: "field inline" }, box, make("label", { for: "addresses" }, "Cell addresses")));
  }
  const search = make("form", { class: "field", role: "search" });
  const input = make("input", { type: "search", id: "search", autocomplete: "off", spellcheck: "false", placeholder: array.elements.isNumeric ? "17.25, > 30, NaN" : "text" });
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    find(array, input.value, false);
  });
  search.append(
    make("label", { for: "search" }, "Find"),
    input,
    make("button", { type: "submit", id: "find" }, "Next"),
    make("button", { type: "button", id: "find-back", on: { click: () => find(array, input.value, true) } }, "Previous"),
    view.found,
  );
  controls.append(search);
  return controls;
}

// Search the array for a value, and go there.
function find(array, query, isBack) {
  const { count, place } = searchElements(array.elements, query, array.place(state.index), isBack);
  if (place < 0) {
    view.found.textContent = query.trim() ? (array.isExcerpt ? "not among the elements on the page" : "not in the array") : "";
    return;
  }
  view.found.textContent = `${countText(count)} ${count === 1 ? "element" : "elements"}${array.isExcerpt ? " of those on the page" : ""}`;
  setWholeIndex(array.indexOf(place));
}
