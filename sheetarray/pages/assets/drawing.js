// Canvases: sharp on every screen, in the colours of the theme.

const FONT = "12px system-ui, sans-serif";

function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Make a canvas as wide as its place, so many pixels high, and return its empty context.
function openCanvas(canvas, height) {
  const width = Math.max(canvas.parentElement.clientWidth, 80);
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`; // of its own, so that it is never stretched before it is drawn anew
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  context.fillStyle = themeColour("faint");
  context.strokeStyle = themeColour("line");
  context.lineWidth = 1;
  return { context, width, height };
}

function drawText(context, text, x, y, { align = "center", baseline = "top", colour = "faint", longest = Infinity } = {}) {
  context.fillStyle = themeColour(colour);
  context.textAlign = align;
  context.textBaseline = baseline;
  let shown = text;
  while (shown.length > 2 && context.measureText(shown).width > longest) shown = `${shown.slice(0, -2)}…`;
  const half = context.measureText(shown).width / 2;
  const room = context.canvas.width / (window.devicePixelRatio || 1);
  const within = align === "center" && context.getTransform().b === 0 ? Math.max(half, Math.min(room - half, x)) : x;
  context.fillText(shown, within, y);
}

// The width of the widest of some texts, in pixels.
function measureTexts(context, texts) {
  context.font = FONT;
  return Math.max(0, ...texts.map((text) => context.measureText(text).width));
}

// The places to be marked along an axis, as many as have room for their texts side by side: pairs of place and text.
function fitTicks(context, count, pixels, apart, toTexts) {
  for (let room = apart; ; room *= 1.25) {
    const places = indexTicks(count, pixels, room);
    const texts = toTexts(places);
    const between = places.length > 1 ? ((places[1] - places[0]) * pixels) / count : Infinity;
    if (measureTexts(context, texts) + 8 <= between) return places.map((place, number) => [place, texts[number]]);
  }
}

function drawLine(context, x1, y1, x2, y2, colour) {
  context.strokeStyle = themeColour(colour);
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
  context.stroke();
}

// Fill a rectangle with the hatching that stands for missing values.
function hatch(context, x, y, width, height) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 8;
  const pen = tile.getContext("2d");
  pen.fillStyle = themeColour("field");
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = themeColour("faint");
  pen.lineWidth = 1.2;
  pen.beginPath();
  for (const start of [-8, 0, 8]) {
    pen.moveTo(start, 8);
    pen.lineTo(start + 8, 0);
  }
  pen.stroke();
  context.fillStyle = context.createPattern(tile, "repeat");
  context.fillRect(x, y, width, height);
}

// A table of 256 colours between the few that the page names.
function makePalette(anchors) {
  const palette = new Uint8Array(256 * 3);
  for (let level = 0; level < 256; level += 1) {
    const place = (level / 255) * (anchors.length - 1);
    const below = Math.min(Math.floor(place), anchors.length - 2);
    for (let channel = 0; channel < 3; channel += 1) {
      const [low, high] = [anchors[below][channel], anchors[below + 1][channel]];
      palette[3 * level + channel] = Math.round(low + (place - below) * (high - low));
    }
  }
  return palette;
}
