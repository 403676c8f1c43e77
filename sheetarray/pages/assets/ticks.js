// Where the marks of an axis stand, and how its texts are shortened.

const MOST_LABELLED = 14; // characters of a label on an axis, unless more are needed to tell labels apart

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

// Numbers, or labels, rounded to as few digits as tell them apart; where these are not the fewest, to two more, so that
// 1000000000.25 does not stand as 1000000000.3.
function roundApart(values, round, fewest) {
  const wanted = new Set(values).size;
  for (let digits = fewest; digits < 17; digits += 1) {
    const texts = values.map((value) => round(value, digits));
    if (new Set(texts).size < wanted) continue;
    return digits === fewest ? texts : values.map((value) => round(value, Math.min(digits + 2, 17)));
  }
  return values.map(floatText);
}

const roundNumbers = (values, fewest = 6) => roundApart(values, roundNumber, fewest);

// Ways to shorten the texts of dates and others, the shortest first.
const SHORTENERS = {
  date: [
    (label) => label.replace(/(\d)T.*$/, "$1"),
    (label) => label.replace(/(T\d\d:\d\d):.*$/, "$1"),
    (label) => label.replace(/\.\d+$/, ""),
    (label) => label.replace(/(\.\d*[1-9])0+$/, "$1"),
    (label) => label,
  ],
  text: [
    (label, longest) => cutText(label, longest - 1, 0),
    (label, longest) => cutText(label, Math.floor(longest / 2) - 1, Math.ceil(longest / 2)),
    (label, longest) => cutText(label, 0, longest - 1),
    (label, longest, alike) => cutText(`…${[...label].slice(alike).join("")}`, longest - 1, 0),
  ],
};

// A number of a station, or a day, such as 20260105, has all its digits; another numeral has so many.
function roundNumeral(label, longest, digits) {
  if ((/^[-+]?\d+$/.test(label) && label.length <= longest) || label.length <= 7 || Number.isNaN(Number(label))) return label;
  return roundNumber(Number(label), digits);
}

// A long text: its first letters, and its last.
function cutText(text, first, last) {
  const letters = [...text];
  if (letters.length <= first + last + 1) return text;
  return `${letters.slice(0, first).join("")}…${letters.slice(letters.length - last).join("")}`;
}

// Return short texts for labels that stand at some places of an axis. Labels that differ have texts that differ, and
// labels that are the same have their places behind them.
function shortenLabels(labels, places, kind, longest = MOST_LABELLED) {
  const wanted = new Set(labels).size;
  let texts = null;
  if (kind === "number") {
    texts = roundApart(labels, (label, digits) => roundNumeral(label, longest, digits), 6);
  } else {
    const letters = labels.map((label) => [...label]);
    let alike = 0; // letters with which all labels begin
    while (wanted > 1 && letters.every((some) => some.length > alike && some[alike] === letters[0][alike])) alike += 1;
    const ways = SHORTENERS[kind].map((shorten) => labels.map((label) => shorten(label, longest, Math.max(0, alike - 3))));
    texts = ways.find((some) => new Set(some).size === wanted) || ways[0];
  }
  const times = new Map();
  for (const text of texts) times.set(text, (times.get(text) || 0) + 1);
  return texts.map((text, number) => (times.get(text) > 1 ? `${text} [${places[number]}]` : text));
}

// Thousands are set apart in counts, which nobody copies.
function countText(count) {
  return count.toLocaleString("en-US");
}
