// Lines along an axis, and the histogram.

const LINE_MARGIN = { left: 64, top: 10, right: 12, bottom: 42 };
const MOST_BARS = 40;

// Open a canvas for lines or bars with marks at some values; return its context, its plot, and the marks with texts.
function openPlot(canvas, height, values, toTexts) {
  const texts = toTexts(values);
  const left = Math.max(LINE_MARGIN.left, Math.round(measureTexts(canvas.getContext("2d"), texts)) + 12);
  const { context, width } = openCanvas(canvas, height);
  const plot = { left, top: LINE_MARGIN.top, width: width - left - LINE_MARGIN.right, height: height - LINE_MARGIN.top - LINE_MARGIN.bottom };
  return { context, plot, marks: values.map((value, number) => [value, texts[number]]) };
}

// Draw one line for each series: {value(i), colour}; return where it stands, for the pointer.
function drawLines(canvas, series, count, { cursor, texts, title, height = 190 }) {
  let [low, high] = [Infinity, -Infinity];
  for (const { value } of series) {
    for (let i = 0; i < count; i += 1) {
      const number = value(i);
      if (Number.isFinite(number)) [low, high] = [Math.min(low, number), Math.max(high, number)];
    }
  }
  const isEmpty = low > high;
  if (isEmpty) [low, high] = [0, 1];
  if (low === high) [low, high] = [low - (Math.abs(low) / 2 || 1), high + (Math.abs(high) / 2 || 1)];
  const { context, plot, marks } = openPlot(canvas, height, isEmpty ? [] : valueTicks(low, high, 4), (values) => roundNumbers(values));
  const x = (i) => plot.left + (count > 1 ? (i / (count - 1)) * plot.width : plot.width / 2);
  const y = (number) => plot.top + plot.height - ((number / 2 - low / 2) / (high / 2 - low / 2)) * plot.height;
  if (isEmpty) drawText(context, "no finite values", plot.left + plot.width / 2, plot.top + plot.height / 2, { baseline: "middle" });
  for (const [tick, text] of marks) {
    drawLine(context, plot.left, y(tick), plot.left + plot.width, y(tick), "line");
    drawText(context, text, plot.left - 6, y(tick), { align: "right", baseline: "middle" });
  }
  for (const [i, text] of fitTicks(context, count, plot.width, 84, texts)) {
    drawLine(context, x(i), plot.top + plot.height, x(i), plot.top + plot.height + 4, "faint");
    drawText(context, text, x(i), plot.top + plot.height + 7);
  }
  drawText(context, title, plot.left + plot.width / 2, height - 16, { colour: "ink", longest: plot.width });
  series.forEach(({ value, colour }, number) => {
    context.lineWidth = number + 1 < series.length ? 4 : 1.5; // one line does not hide another that is the same
    drawSeries(context, value, count, x, y, colour, plot.width);
  });
  drawLine(context, x(cursor), plot.top, x(cursor), plot.top + plot.height, "ink");
  for (const { value, colour } of series) drawDot(context, x(cursor), y(value(cursor)), colour);
  return { plot, x, count };
}

// Draw a line with gaps at missing values; of many elements the least and the greatest in each pixel.
function drawSeries(context, value, count, x, y, colour, width) {
  context.strokeStyle = themeColour(colour);
  context.beginPath();
  const step = Math.max(1, Math.floor(count / (2 * width)));
  let isOpen = false;
  for (let start = 0; start < count; start += step) {
    let [least, most, missing] = [Infinity, -Infinity, true];
    for (let i = start; i < Math.min(start + step, count); i += 1) {
      const number = value(i);
      if (!Number.isFinite(number)) continue;
      [least, most, missing] = [Math.min(least, number), Math.max(most, number), false];
    }
    if (missing) {
      isOpen = false;
      continue;
    }
    if (isOpen) context.lineTo(x(start), y(least));
    else context.moveTo(x(start), y(least));
    if (!isOpen && step === 1) context.lineTo(x(start) + 0.5, y(most)); // an element between two missing ones
    if (most > least) context.lineTo(x(start), y(most));
    isOpen = true;
  }
  context.stroke();
  context.lineWidth = 1;
}

function drawDot(context, x, y, colour) {
  if (!Number.isFinite(y)) return;
  context.fillStyle = themeColour(colour);
  context.strokeStyle = themeColour("paper");
  context.beginPath();
  context.arc(x, y, 4, 0, 2 * Math.PI);
  context.fill();
  context.stroke();
}

// Count numbers in bars of equal width between two values, and those outside: one outlier is not to hide all others.
function countBars(numbers, { low, high }) {
  const bars = new Uint32Array(high > low ? MOST_BARS : 1);
  let [below, above] = [0, 0];
  for (const value of numbers) {
    if (value < low) below += 1;
    else if (value > high) above += 1;
    else if (!Number.isNaN(value)) {
      const share = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0;
      bars[Math.min(bars.length - 1, Math.floor(share * bars.length))] += 1;
    }
  }
  return { bars, below, above };
}

function drawHistogram(canvas, numbers, scale) {
  const { bars, below, above } = countBars(numbers, scale);
  const height = 190;
  const { low, high } = scale;
  const most = Math.max(...bars, 1);
  const countTexts = (counts) => counts.map((count) => (Number.isInteger(count) ? (count < 1e6 ? countText(count) : `${count / 1e6} M`) : ""));
  const { context, plot, marks } = openPlot(canvas, height, valueTicks(0, most, 3), countTexts);
  for (const [tick, text] of marks) {
    const y = plot.top + plot.height * (1 - tick / most);
    drawLine(context, plot.left, y, plot.left + plot.width, y, "line");
    drawText(context, text, plot.left - 6, y, { align: "right", baseline: "middle" });
  }
  context.fillStyle = themeColour("first");
  bars.forEach((count, bar) => {
    const tall = (plot.height * count) / most;
    const wide = plot.width / bars.length;
    context.fillRect(plot.left + bar * wide + 0.5, plot.top + plot.height - tall, Math.max(wide - 1, 1), tall);
  });
  const bottom = plot.top + plot.height;
  if (scale.isEmpty) drawText(context, "no finite values", plot.left + plot.width / 2, plot.top + plot.height / 2, { baseline: "middle" });
  for (const [tick, text] of scale.isEmpty ? [] : fitValues(context, low, high, plot.width)) {
    const x = plot.left + (high > low ? (tick / 2 - low / 2) / (high / 2 - low / 2) : 0.5) * plot.width;
    drawLine(context, x, bottom, x, bottom + 4, "faint");
    drawText(context, text, x, bottom + 7);
  }
  const outside = [below && `${countText(below)} below`, above && `${countText(above)} above`].filter(Boolean).join(", ");
  const title = outside ? `how often (${outside})` : "how often";
  drawText(context, title, plot.left + plot.width / 2, height - 16, { colour: "ink", longest: plot.width });
  return `Histogram: ${bars.length} bars from ${roundNumbers([low, high]).join(" to ")}${outside && `, ${outside}`}`;
}

// Round values to be marked side by side, as many as have room for their texts: pairs of value and text.
function fitValues(context, low, high, pixels) {
  for (let most = Math.max(2, Math.floor(pixels / 90)); ; most -= 1) {
    const ticks = valueTicks(low, high, most);
    const texts = roundNumbers(ticks);
    if (most <= 1 || ticks.length * (measureTexts(context, texts) + 8) <= pixels) return ticks.map((tick, number) => [tick, texts[number]]);
  }
}
