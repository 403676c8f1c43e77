// Arrays of the page: where their elements stand, in memory and in the file, and what their dimensions are called.

// Inflate a blob of the page: base64 text in an element that no browser executes.
async function inflateBlob(number) {
  const holder = document.getElementById(`blob-${number}`);
  const raw = atob(holder.textContent);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i += 1) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

function columnLetters(column) {
  let letters = "";
  for (let rest = column + 1; rest > 0; rest = Math.floor((rest - 1) / 26)) {
    letters = String.fromCharCode(65 + ((rest - 1) % 26)) + letters;
  }
  return letters;
}

class SheetArray {
  constructor(entry, number) {
    this.entry = entry;
    this.number = number;
    this.shape = entry.shape; // of the elements that the page holds
    this.isExcerpt = Boolean(entry.excerpt); // of an array that is larger
    this.strides = []; // of the elements in the page, which are in row-major order
    this.count = 1;
    for (let axis = entry.shape.length - 1; axis >= 0; axis -= 1) {
      this.strides.unshift(this.count);
      this.count *= entry.shape[axis];
    }
    this.elements = null;
    this.labelling = (entry.labels || entry.shape.map(() => [])).map((numbers) => numbers.slice());
    this.marks = new Map(); // findings by the place of their element
  }

  async load() {
    if (!this.elements) {
      const buffers = await Promise.all(this.entry.blobs.map(inflateBlob));
      this.elements = makeElements(this.entry, buffers);
    }
    return this;
  }

  // The place of an element among all of the array, in row-major order.
  place(index) {
    return index.reduce((sum, position, axis) => sum + position * this.strides[axis], 0);
  }

  indexOf(place) {
    return this.shape.map((size, axis) => Math.floor(place / this.strides[axis]) % size);
  }

  // The size of a dimension of the whole array.
  size(axis) {
    return this.isExcerpt ? this.entry.excerpt.shape[axis] : this.shape[axis];
  }

  // The index in the whole array of what stands at a place along an axis of the page.
  wholeIndex(axis, position) {
    if (!this.isExcerpt) return position;
    const [start, step] = this.entry.excerpt.taken[axis];
    return start + position * step;
  }

  // The opposite; -1 for what the page does not hold.
  pagePosition(axis, index) {
    const [start, step] = this.isExcerpt ? this.entry.excerpt.taken[axis] : [0, 1];
    const position = (index - start) / step;
    return Number.isInteger(position) && position >= 0 && position < this.shape[axis] ? position : -1;
  }

  // The index of an element in the whole array.
  wholeIndices(index) {
    return index.map((position, axis) => this.wholeIndex(axis, position));
  }

  // All that the page holds along an axis, as NumPy says it.
  sliceText(axis) {
    if (!this.isExcerpt || this.shape[axis] < 2) return ":";
    const [start, step] = this.entry.excerpt.taken[axis];
    const last = start + (this.shape[axis] - 1) * step;
    const from = step > 0 && start === 0 ? "" : start;
    const isToEnd = step > 0 ? last + step >= this.size(axis) : last + step < 0;
    return `${from}:${isToEnd ? "" : last + Math.sign(step)}${step === 1 ? "" : `:${step}`}`;
  }

  dimension(axis) {
    return this.entry.dims ? this.entry.dims[axis] : `axis ${axis}`;
  }

  hasLabels(axis) {
    return this.labelling[axis].length > 0;
  }

  // The label at an index of a dimension; "" where it has none.
  label(axis, position) {
    return this.labelling[axis].map((labels) => shortenDate(labels.elements.text(position))).join(", ");
  }

  // Short texts for the labels at some indices of a dimension, which tell them apart; indices where it has none.
  labelTexts(axis, positions) {
    const indices = positions.map((position) => this.wholeIndex(axis, position));
    if (!this.hasLabels(axis)) return indices.map(String);
    const levels = this.labelling[axis];
    const [{ entry, elements }] = levels;
    const kind = levels.length > 1 || elements.isComplex ? "text" : elements.isNumeric ? "number" : entry.kind === "datetime" ? "date" : "text";
    const labels = positions.map((position) => (levels.length > 1 ? this.label(axis, position) : elements.text(position)));
    return shortenLabels(labels, indices, kind);
  }

  // Which end of a dimension lies in the north: "first", "last", or "" for what is no latitude.
  north(axis) {
    return (this.entry.north || [])[axis] || "";
  }

  // The address of the cell that holds an element; "" where nobody knows.
  address(index) {
    const cells = this.entry.cells;
    if (!cells || !this.count) return "";
    const stored = this.wholeIndices(index).reduce((sum, place, axis) => sum + place * cells.strides[axis], cells.offset);
    let run = cells.runs[0];
    for (const other of cells.runs) if (other.first <= stored) run = other;
    const along = stored - run.first;
    const row = run.row + (run.down ? along : 0);
    const column = run.column + (run.down ? 0 : along);
    const address = `${columnLetters(column)}${row + 1}`;
    return run.title === null ? address : `${run.title}!${address}`;
  }

  // NumPy code for an element or, with ":" for some axes, for a slice.
  expression(positions) {
    const index = positions.map((position, axis) => (position === ":" ? this.sliceText(axis) : this.wholeIndex(axis, position)));
    return `arrays[${JSON.stringify(this.entry.name)}][${index.length ? index.join(", ") : "()"}]`;
  }
}

// Zeros that say nothing are left out of a label: 2026-01-01T00:15, and midnight as the date alone.
function shortenDate(text) {
  if (!/^-?\d{4,}-\d\d-\d\dT/.test(text)) return text;
  return text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "").replace(/(:\d\d):00$/, "$1").replace(/T00:00$/, "");
}

// Load an array with the arrays that label its dimensions.
async function loadWithLabels(array, arrays) {
  await array.load();
  array.labelling = await Promise.all(
    array.labelling.map((labels) =>
      Promise.all(labels.map((label) => (label instanceof SheetArray ? label : arrays[label].load()))),
    ),
  );
  return array;
}
