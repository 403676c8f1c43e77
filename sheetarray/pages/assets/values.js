// Elements as texts and as numbers. A text is what a cell holds: the shortest that gives the element back.

// Return the shortest text of a number of few digits: `isSame` tells whether a number read from a text is the element.
function shortestText(value, mostDigits, isSame) {
  if (!Number.isFinite(value) || value === 0) return floatText(value);
  for (let digits = 1; digits < mostDigits; digits += 1) {
    const short = Number(value.toPrecision(digits));
    if (isSame(short)) return String(short);
    const longer = Math.abs(short) < Math.abs(value) ? nextAway(value, digits) : short; // above a power of two there is more room
    if (isSame(longer)) return String(longer);
  }
  return String(Number(value.toPrecision(mostDigits)));
}

// Return the number of so many digits that lies next beyond a value, away from zero.
function nextAway(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits - 1).split("e");
  const whole = BigInt(mantissa.replace(".", "")) + (value < 0 ? -1n : 1n);
  return Number(`${whole}e${Number(exponent) - digits + 1}`);
}

function floatText(value) {
  return Object.is(value, -0) ? "-0" : String(value); // NaN, Infinity and -Infinity are spelled as in cells
}

function float32Text(value) {
  return shortestText(value, 9, (short) => Math.fround(short) === value);
}

function halfToNumber(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 25) * (1024 + fraction) : 2 ** -24 * fraction);
}

function halfText(bits) {
  const value = halfToNumber(bits);
  const exponent = Math.max((bits >> 10) & 31, 1);
  const spacing = 2 ** (exponent - 25); // to the next half above; below a power of two they lie closer
  const below = (bits & 1023) === 0 && exponent > 1 ? spacing / 2 : spacing;
  const isEven = bits % 2 === 0; // what lies in the middle of two is read as the even one
  return shortestText(value, 5, (short) => {
    const away = Math.abs(short) - Math.abs(value);
    return (away < spacing / 2 && -away < below / 2) || (isEven && (away === spacing / 2 || -away === below / 2));
  });
}

function complexText(real, imaginary, toText) {
  const second = toText(imaginary);
  return `${toText(real)}${second.startsWith("-") ? "" : "+"}${second}i`;
}

// What an element is, by the layout of numbers in the buffer: typed array, text of one number.
const LAYOUTS = {
  f2: [Uint16Array, halfText],
  f4: [Float32Array, float32Text],
  f8: [Float64Array, floatText],
  i1: [Int8Array, String],
  i2: [Int16Array, String],
  i4: [Int32Array, String],
  i8: [BigInt64Array, String],
  u1: [Uint8Array, String],
  u2: [Uint16Array, String],
  u4: [Uint32Array, String],
  u8: [BigUint64Array, String],
};

const NOT_A_TIME = -(2n ** 63n);

// Elements of one array: `text(i)`, `number(i)` (NaN where there is none), and whether it `isMissing(i)`.
function makeElements(entry, buffers) {
  switch (entry.kind) {
    case "complex":
      return complexElements(buffers[0], entry.layout);
    case "bool":
      return boolElements(buffers[0]);
    case "float":
    case "int":
      return numberElements(buffers[0], entry.layout);
    case "timedelta":
      return timedeltaElements(buffers[0]);
    default:
      return textElements(entry.kind, buffers);
  }
}

function numberElements(buffer, layout) {
  const [TypedArray, toText] = LAYOUTS[layout];
  const values = new TypedArray(buffer);
  const number = layout === "f2" ? (i) => halfToNumber(values[i]) : (i) => Number(values[i]);
  return {
    count: values.length,
    isNumeric: true,
    isWhole: layout[0] !== "f",
    values,
    text: (i) => toText(values[i]),
    number,
    isMissing: (i) => Number.isNaN(number(i)),
  };
}

function boolElements(buffer) {
  const values = new Uint8Array(buffer);
  return {
    count: values.length,
    isNumeric: true,
    isWhole: true,
    values,
    text: (i) => (values[i] ? "TRUE" : "FALSE"),
    number: (i) => values[i],
    isMissing: () => false,
  };
}

function timedeltaElements(buffer) {
  const values = new BigInt64Array(buffer);
  const isMissing = (i) => values[i] === NOT_A_TIME;
  return {
    count: values.length,
    isNumeric: true,
    isWhole: true,
    values,
    text: (i) => (isMissing(i) ? "NaT" : String(values[i])),
    number: (i) => (isMissing(i) ? NaN : Number(values[i])),
    isMissing,
  };
}

// Complex numbers have magnitudes as their numbers.
function complexElements(buffer, layout) {
  const single = layout === "c8";
  const parts = single ? new Float32Array(buffer) : new Float64Array(buffer);
  const toText = single ? float32Text : floatText;
  const number = (i) => Math.hypot(parts[2 * i], parts[2 * i + 1]);
  return {
    count: parts.length / 2,
    isNumeric: true,
    isWhole: false,
    isComplex: true,
    parts,
    text: (i) => complexText(parts[2 * i], parts[2 * i + 1], toText),
    number,
    isMissing: (i) => Number.isNaN(parts[2 * i]) || Number.isNaN(parts[2 * i + 1]),
  };
}

// Text, dates and generic elements: lengths, then UTF-16, which is what strings are; no decoder changes them.
function textElements(kind, [lengthBuffer, unitBuffer, kindBuffer]) {
  const lengths = new Uint32Array(lengthBuffer);
  const units = new Uint16Array(unitBuffer);
  const ends = new Float64Array(lengths.length + 1);
  lengths.forEach((length, i) => (ends[i + 1] = ends[i] + length));
  const kinds = kindBuffer ? new Uint8Array(kindBuffer) : null;
  const text = (i) => {
    let result = "";
    for (let start = ends[i]; start < ends[i + 1]; start += 8192) {
      result += String.fromCharCode(...units.subarray(start, Math.min(start + 8192, ends[i + 1])));
    }
    return result;
  };
  return {
    count: lengths.length,
    isNumeric: false,
    isWhole: false,
    kinds,
    text,
    number: () => NaN,
    isMissing: (i) => (kinds ? kinds[i] === 0 : kind === "datetime" && text(i) === "NaT"),
  };
}
