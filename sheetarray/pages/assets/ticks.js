// Where the marks of an axis stand, and how its texts are rounded.

// Steps that people count in: 1, 2, 5, 10, 20, ..
function niceStep(atLeast) {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  const times = [1, 2, 5, 10].find((factor) => factor * power >= atLeast * (1 - 1e-9));
  return times * power;
}

// Indices to be marked along an axis of so many elements and pixels.
function indexTicks(count, pixels, apart) {
  const step = Math.max(1, niceStep(Math.max((apart * count) / Math.max(pixels, 1), 1e-9)));
  const ticks = [];
  for (let index = 0; index < count; index += step) ticks.push(index);
  return ticks;
}

// Round values to be marked between two others.
function valueTicks(low, high, most) {
  if (!(high > low)) return [low];
  const step = niceStep((high - low) / most);
  if (!(step > 0) || !Number.isFinite(step)) return [low, high];
  const ticks = [];
  for (let n = Math.ceil(low / step); n * step <= high * (1 + 1e-12) + step * 1e-9 && ticks.length < 50; n += 1) {
    ticks.push(n * step);
  }
  return ticks;
}

// A number in at most so many digits.
function roundNumber(value, digits = 6) {
  if (!Number.isFinite(value)) return floatText(value);
  const rounded = Number(value.toPrecision(digits));
  const text = String(rounded);
  return text.length > digits + 6 && Math.abs(rounded) >= 1 ? rounded.toExponential().replace("e+", "e") : text; // no row of zeros
}

// A text for an axis: a long numeral rounded, another long text cut.
function roundText(text, longest = 14) {
  if (/^[-+]?\d+$/.test(text) && text.length <= longest) return text; // a number of a station, or a day: 20260105
  if (text.length > 7 && text.trim() !== "" && !Number.isNaN(Number(text))) return roundNumber(Number(text));
  const letters = [...text];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : text;
}

// Thousands are set apart in counts, which nobody copies.
function countText(count) {
  return count.toLocaleString("en-US");
}
