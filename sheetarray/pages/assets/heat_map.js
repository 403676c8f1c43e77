// The heat map: rows down, columns to the right, a colour for each element or for the mean of a few.

const MAP_MARGIN = { left: 76, top: 6, right: 10, bottom: 44 };
const LEGEND_HEIGHT = 44;

// Return the means of the elements in each pixel; NaN where more than half of them are missing.
function shrinkPlane(plane, height, width) {
  const { rows, columns, numbers } = plane;
  if (rows <= height && columns <= width) return { values: numbers, high: rows, wide: columns };
  const high = Math.min(rows, height);
  const wide = Math.min(columns, width);
  const sums = new Float64Array(high * wide);
  const known = new Uint32Array(high * wide);
  const all = new Uint32Array(high * wide);
  for (let row = 0; row < rows; row += 1) {
    const line = Math.floor((row * high) / rows) * wide;
    for (let column = 0; column < columns; column += 1) {
      const pixel = line + Math.floor((column * wide) / columns);
      const value = numbers[row * columns + column];
      all[pixel] += 1;
      if (!Number.isNaN(value)) {
        sums[pixel] += Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, value)) / 2;
        known[pixel] += 1;
      }
    }
  }
  const values = sums.map((sum, pixel) => (2 * known[pixel] < all[pixel] || !known[pixel] ? NaN : (sum / known[pixel]) * 2));
  return { values, high, wide };
}

// Return a picture, one pixel for each value; missing ones are see-through, so that the hatching below shows.
function paintPixels({ values, high, wide }, { low, high: top }, palette) {
  const canvas = document.createElement("canvas");
  canvas.width = wide;
  canvas.height = high;
  const pen = canvas.getContext("2d");
  const image = pen.createImageData(wide, high);
  const unit = Math.max(Math.abs(low), Math.abs(top)) || 1; // so that no difference overflows
  const span = top / unit - low / unit;
  values.forEach((value, pixel) => {
    if (Number.isNaN(value)) return;
    const end = value > 0 ? 1 : 0; // of infinities
    const share = !Number.isFinite(value) ? end : span > 0 ? (Math.max(low, Math.min(top, value)) / unit - low / unit) / span : 0.5;
    const level = Math.max(0, Math.min(255, Math.round(share * 255)));
    image.data.set(palette.subarray(3 * level, 3 * level + 3), 4 * pixel);
    image.data[4 * pixel + 3] = 255;
  });
  pen.putImageData(image, 0, 0);
  return canvas;
}

// Return the picture of a plane; it is kept, for the cursor moves more often than the picture changes.
function paintPlane(plane, height, width, scale, palette) {
  const key = [height, width, scale.low, scale.high].join();
  if (!plane.picture || plane.picture.key !== key) {
    plane.picture = { key, canvas: paintPixels(shrinkPlane(plane, height, width), scale, palette) };
  }
  return plane.picture.canvas;
}

// Draw a plane, with its last row on top if it is `upward`; return where it stands, for the pointer.
function drawHeatMap(canvas, plane, { scale, palette, cursor, marks, rowTexts, columnTexts, rowTitle, columnTitle, upward }) {
  const { rows, columns } = plane;
  const whole = Math.max(canvas.parentElement.clientWidth, 80);
  const fitHeight = (left) => {
    const natural = ((whole - left - MAP_MARGIN.right) * rows) / columns;
    return Math.round(Math.max(90, Math.min(natural, 400, Math.max(rows * 40, 90))));
  };
  const tickRows = (height) => indexTicks(rows, height, 24);
  const widest = measureTexts(canvas.getContext("2d"), rowTexts(tickRows(fitHeight(MAP_MARGIN.left))));
  const left = Math.round(Math.min(Math.max(MAP_MARGIN.left, widest + 30), whole / 2)); // long labels take more room
  const plotHeight = fitHeight(left);
  const { context, width } = openCanvas(canvas, plotHeight + MAP_MARGIN.top + MAP_MARGIN.bottom + LEGEND_HEIGHT);
  const plot = { left, top: MAP_MARGIN.top, width: width - left - MAP_MARGIN.right, height: plotHeight };
  hatch(context, plot.left, plot.top, plot.width, plot.height);
  const picture = paintPlane(plane, Math.round(plot.height * 2), Math.round(plot.width * 2), scale, palette);
  context.save();
  context.imageSmoothingEnabled = false;
  context.translate(plot.left, upward ? plot.top + plot.height : plot.top);
  context.scale(1, upward ? -1 : 1);
  context.drawImage(picture, 0, 0, plot.width, plot.height);
  context.restore();
  context.strokeStyle = themeColour("line");
  context.strokeRect(plot.left - 0.5, plot.top - 0.5, plot.width + 1, plot.height + 1);
  const cell = { width: plot.width / columns, height: plot.height / rows };
  const middle = (row, column) => [
    plot.left + (column + 0.5) * cell.width,
    plot.top + ((upward ? rows - 1 - row : row) + 0.5) * cell.height,
  ];
  const places = tickRows(plotHeight);
  rowTexts(places).forEach((text, number) => {
    const [, y] = middle(places[number], 0);
    drawLine(context, plot.left - 4, y, plot.left, y, "faint");
    drawText(context, text, plot.left - 7, y, { align: "right", baseline: "middle", longest: plot.left - 26 });
  });
  const bottom = plot.top + plot.height;
  for (const [column, text] of fitTicks(context, columns, plot.width, 78, columnTexts)) {
    const [x] = middle(0, column);
    drawLine(context, x, bottom, x, bottom + 4, "faint");
    drawText(context, text, x, bottom + 7);
  }
  drawText(context, columnTitle, plot.left + plot.width / 2, bottom + 24, { colour: "ink", longest: plot.width });
  context.save();
  context.translate(4, plot.top + plot.height / 2);
  context.rotate(-Math.PI / 2);
  drawText(context, rowTitle, 0, 0, { colour: "ink", longest: plot.height });
  context.restore();
  drawCrossHair(context, plot, cell, middle(...cursor));
  const within = Math.min(cell.width, cell.height) < 16 ? -3 : 4; // beside the ring of the cursor, so that both are seen
  for (const [row, column] of marks) drawRing(context, cell, middle(row, column), "alarm", within);
  plane.hasMissing = plane.hasMissing ?? plane.numbers.some(Number.isNaN);
  drawLegend(context, plot, scale, palette, plane.hasMissing);
  return { plot, cell, upward };
}

// Surround an element in two lines that show on every colour, so far within its edges.
function drawRing(context, cell, [x, y], colour, within = 0) {
  const [width, height] = [Math.max(cell.width, 7) - 2 * within, Math.max(cell.height, 7) - 2 * within];
  for (const [more, name] of [[1.5, "paper"], [0, colour]]) {
    context.lineWidth = 1.5 + more + Math.abs(within) / 4;
    context.strokeStyle = themeColour(name);
    context.strokeRect(x - width / 2, y - height / 2, width, height);
  }
  context.lineWidth = 1;
}

function drawCrossHair(context, plot, cell, [x, y]) {
  context.save();
  context.setLineDash([3, 3]);
  for (const [offset, name] of [[0, "paper"], [3, "ink"]]) {
    context.lineDashOffset = offset;
    drawLine(context, x, plot.top, x, plot.top + plot.height, name);
    drawLine(context, plot.left, y, plot.left + plot.width, y, name);
  }
  context.restore();
  drawRing(context, cell, [x, y], "ink");
}

function drawLegend(context, plot, scale, palette, hasMissing) {
  const top = plot.top + plot.height + MAP_MARGIN.bottom + 2;
  const wide = scale.isEmpty ? 0 : Math.min(plot.width, 260);
  for (let x = 0; x < wide; x += 1) {
    const level = Math.round((x / Math.max(wide - 1, 1)) * 255);
    context.fillStyle = `rgb(${palette.subarray(3 * level, 3 * level + 3).join(" ")})`;
    context.fillRect(plot.left + x, top, 1.5, 12);
  }
  if (wide) {
    const [low, high] = roundNumbers([scale.low, scale.high], 4);
    drawText(context, low, plot.left, top + 16, { align: "left" });
    drawText(context, high, plot.left + wide, top + 16, { align: "right" });
  }
  const left = plot.left + (wide && wide + 18);
  if (hasMissing && plot.width > wide + 70) {
    hatch(context, left, top, 16, 12);
    drawText(context, "NaN", left + 22, top + 6, { align: "left", baseline: "middle" });
  }
}

// Least and greatest colour of numbers: all of them, or from the 2nd to the 98th of a hundred, so that one outlier hides nothing.
function findScale(numbers, whole) {
  let finite = numbers.filter(Number.isFinite);
  if (!finite.length) return { low: 0, high: 0, isEmpty: true };
  if (finite.length > 200000) finite = finite.filter((_, i) => i % Math.ceil(finite.length / 200000) === 0 || whole);
  let [low, high] = [Infinity, -Infinity];
  for (const value of finite) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (!whole) {
    const sorted = Float64Array.from(finite).sort();
    const [second, last] = [0.02, 0.98].map((share) => sorted[Math.round(share * (sorted.length - 1))]);
    if (last > second) return { low: second, high: last };
  }
  return { low, high };
}
