// Arrays that a server on this machine holds: boxes of their elements are asked for when they are looked at.

const MOST_IN_BOX = 2 ** 20; // elements
const MOST_ON_LINE = 2 ** 16;
const MOST_BOXES = 200; // that are kept
const MOST_WANTED = 32; // that wait to be asked for
const TILE = 64; // rows and columns

async function fetchBox(entry, number, key) {
  const query = new URLSearchParams({ entry: number, box: key });
  const response = await fetch(`box?${query}`, { cache: "no-store" }).catch(() => {
    throw new Error("the server has ended: run sheetarray page again");
  });
  if (!response.ok) throw new Error((await response.json()).error);
  const body = await response.arrayBuffer();
  let start = 0;
  const buffers = response.headers.get("Sheetarray-Lengths").split(",").map((length) => body.slice(start, (start += Number(length))));
  return makeElements(entry, buffers);
}

// A part of an array: along each axis where it starts, stops, and how far its elements lie apart.
class Box {
  constructor(parts) {
    this.parts = parts;
    this.key = parts.map((part) => part.join(":")).join(",");
    this.counts = parts.map(([start, stop, step]) => Math.ceil((stop - start) / step));
  }

  // The place of an element among those of the box; -1 where it is none of them.
  place(index) {
    let place = 0;
    for (let axis = 0; axis < index.length; axis += 1) {
      const [start, stop, step] = this.parts[axis];
      const away = index[axis] - start;
      if (away < 0 || index[axis] >= stop || away % step) return -1;
      place = place * this.counts[axis] + away / step;
    }
    return place;
  }
}

// The elements of an array that is served: as those in the page, "…" until they have come.
class ServedElements {
  constructor(array) {
    this.array = array;
    const none = makeElements(array.entry, [new ArrayBuffer(0), new ArrayBuffer(0)]);
    Object.assign(this, { isNumeric: none.isNumeric, isWhole: none.isWhole, isComplex: none.isComplex, count: array.count, kinds: null });
    this.boxes = new Map(); // elements by the key of their box; those used last stand last
    this.wanted = new Map();
    this.isBusy = false;
    this.shown = null; // the box of the plane that is drawn
    this.text = (place) => this.look(place, (elements, i) => elements.text(i), UNKNOWN);
    this.number = (place) => this.look(place, (elements, i) => elements.number(i), NaN);
    this.isMissing = (place) => this.look(place, (elements, i) => elements.isMissing(i), false);
  }

  look(place, take, otherwise) {
    const index = this.array.indexOf(place);
    for (const box of [this.shown, this.tile(index)]) {
      const at = box ? box.place(index) : -1;
      const elements = at < 0 ? null : this.boxes.get(box.key);
      if (elements) return take(elements, at);
    }
    this.want(this.tile(index), "tile");
    return otherwise;
  }

  // The box around an element that a table shows.
  tile(index) {
    const [rowAxis, columnAxis] = state.axes;
    const along = columnAxis === null ? TILE * TILE : TILE;
    return new Box(
      index.map((position, axis) => {
        if (axis !== rowAxis && axis !== columnAxis) return [position, position + 1, 1];
        const start = position - (position % along);
        return [start, Math.min(start + along, this.array.shape[axis]), 1];
      }),
    );
  }

  // The box of a slice along two axes; of a large one every so many rows and columns.
  planeBox(index, axes) {
    const drawn = axes.filter((axis) => axis !== null);
    const steps = new Map(drawn.map((axis) => [axis, 1]));
    const size = (axis) => Math.ceil(this.array.shape[axis] / steps.get(axis));
    while (drawn.reduce((product, axis) => product * size(axis), 1) > MOST_IN_BOX) {
      const longest = drawn.reduce((one, other) => (size(other) > size(one) ? other : one));
      steps.set(longest, steps.get(longest) * 2);
    }
    return new Box(index.map((position, axis) => (steps.has(axis) ? [0, this.array.shape[axis], steps.get(axis)] : [position, position + 1, 1])));
  }

  // A slice as `takePlane` gives it; empty while it has not come.
  plane(index, axes) {
    const box = this.planeBox(index, axes);
    const elements = this.boxes.get(box.key);
    const [rowAxis, columnAxis] = axes;
    const of = (list, axis) => (axis === null ? 1 : list[axis]);
    const placeAt = (row, column) => this.array.place(index.map((position, axis) => (axis === rowAxis ? row : axis === columnAxis ? column : position)));
    const plane = { rows: of(this.array.shape, rowAxis), columns: of(this.array.shape, columnAxis), placeAt };
    if (!elements) {
      this.wanted.clear();
      this.want(box, "plane");
      return { ...plane, high: 1, wide: 1, numbers: new Float64Array([NaN]), isAwaited: true };
    }
    this.shown = box;
    const [high, wide] = [of(box.counts, rowAxis), of(box.counts, columnAxis)];
    const turned = rowAxis > columnAxis && columnAxis !== null; // rows of the plane are columns of the box
    const at = (row, column) => (turned ? column * high + row : row * wide + column);
    const numbers = Float64Array.from({ length: high * wide }, (_, i) => elements.number(at(Math.floor(i / wide), i % wide)));
    return { ...plane, high, wide, numbers, elements, isSampled: high < plane.rows || wide < plane.columns };
  }

  // The numbers along an axis through an element, and how far they lie apart; null while they have not come.
  line(index, axis) {
    const size = this.array.shape[axis];
    const step = Math.ceil(size / MOST_ON_LINE);
    const box = new Box(index.map((position, other) => (other === axis ? [0, size, step] : [position, position + 1, 1])));
    const whole = step === 1 && this.shown && this.shown.place(index) >= 0 && this.shown.parts[axis][2] === 1 && this.shown.counts[axis] === size;
    if (whole) {
      const shown = this.boxes.get(this.shown.key);
      const value = (i) => shown.number(this.shown.place(index.map((position, other) => (other === axis ? i : position))));
      return { step, count: size, value };
    }
    const elements = this.boxes.get(box.key);
    if (!elements) this.want(box, "line");
    return elements ? { step, count: elements.count, value: elements.number } : null;
  }

  want(box, kind) {
    this.wanted.delete(box.key);
    this.wanted.set(box.key, kind);
    if (this.wanted.size > MOST_WANTED) this.wanted.delete(this.wanted.keys().next().value);
    this.ask();
  }

  async bring(index, axes) {
    const { key } = this.planeBox(index, axes);
    if (!this.boxes.has(key)) this.keep(key, await fetchBox(this.array.entry, this.array.number, key));
  }

  keep(key, elements) {
    this.boxes.set(key, elements);
    for (const other of this.boxes.keys()) {
      if (this.boxes.size <= MOST_BOXES && this.held() <= 16 * MOST_IN_BOX) break;
      if (other !== key && !(this.shown && other === this.shown.key)) this.boxes.delete(other);
    }
  }

  held() {
    return [...this.boxes.values()].reduce((sum, { count }) => sum + count, 0);
  }

  // Ask for what is wanted, one box after the other: what nobody wants any more is never asked for.
  async ask() {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (this.wanted.size) {
        const [key, kind] = this.wanted.entries().next().value;
        const elements = await fetchBox(this.array.entry, this.array.number, key);
        this.wanted.delete(key);
        this.keep(key, elements);
        redrawServed(this.array, kind);
      }
    } catch (error) {
      this.wanted.clear();
      byId("message").textContent = error.message;
    }
    this.isBusy = false;
  }
}

// Draw what waited for a box.
function redrawServed(array, kind) {
  if (!view || !state.panels.some((panel) => panel.array === array)) return;
  if (kind === "plane") return drawSlice();
  view.lines.forEach((line, number) => drawLineOf(groups[state.group][0], line, state.axes[number]));
  readOut(state.index);
  return view.table.draw();
}

// Tell the server that a page is open, and that it is closed.
function keepServer() {
  setInterval(() => fetch("open", { cache: "no-store" }).catch(() => undefined), 20000);
  window.addEventListener("pagehide", () => navigator.sendBeacon("closed"));
}
