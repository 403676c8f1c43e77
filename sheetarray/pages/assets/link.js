// A link to what is shown: the fragment of the page's address says the array, the slice, the cursor and how it is drawn.

const LINK_DELAY = 300; // milliseconds; a browser refuses an address that changes too often
const note = { timer: 0, text: null }; // the fragment that stands in the address, or that would say what the page opens with

// The groups of one name: of several files where their arrays have other shapes.
const namesakes = (name) => [...groups.keys()].filter((number) => groups[number][0].entry.name === name);

function describeLink() {
  const [{ entry }] = groups[state.group];
  const fields = new URLSearchParams({ array: entry.name });
  const number = namesakes(entry.name).indexOf(state.group);
  if (number) fields.set("number", number);
  if (!view) return `#${fields}`;
  if (state.index.length) fields.set("index", groups[state.group][0].wholeIndices(state.index).join(","));
  if (state.index.length > 1) fields.set("axes", state.axes.join(","));
  if (view.maps.length) fields.set("colours", state.scale);
  if (state.shown) fields.set("table", state.shown);
  if (state.index.length > 1 && state.addresses) fields.set("addresses", 1);
  return `#${fields}`.replaceAll("%2C", ",");
}

// Keep the address up to date, once somebody has moved: an address of its own opens as the page is meant to.
function noteLink() {
  clearTimeout(note.timer);
  if (note.text === null || state.group === null) return;
  note.timer = setTimeout(writeLink, LINK_DELAY);
}

function writeLink() {
  const text = describeLink();
  if (text === note.text) return;
  note.text = text;
  try {
    history.replaceState(null, "", text);
  } catch {
    // a frame of a notebook has no address
  }
}

// Return what a fragment asks for; null for one that names no array. What else in it makes no sense is left out.
function readLink(text) {
  const fields = new URLSearchParams(text.replace(/^#/, ""));
  const number = namesakes(fields.get("array") || "")[Number(fields.get("number") || 0)];
  if (number === undefined || fields.get("array") === null) return null;
  const [array] = groups[number];
  const places = (key) => (/^\d{1,15}(,\d{1,15})*$/.test(fields.get(key) || "") ? fields.get(key).split(",").map(Number) : []);
  const [whole, axes] = [places("index"), places("axes")];
  const index = whole.length === array.shape.length ? whole.map((place, axis) => array.pagePosition(axis, place)) : [];
  const areAxes = array.shape.length > 1 && axes.length === 2 && axes[0] !== axes[1] && axes.every((axis) => axis < array.shape.length);
  return {
    number,
    index: index.length && !index.includes(-1) ? index : null,
    axes: areAxes ? axes : undefined,
    scale: SCALES.some(([key]) => key === fields.get("colours")) ? fields.get("colours") : undefined,
    shown: /^\d$/.test(fields.get("table") || "") ? Number(fields.get("table")) : 0,
    addresses: fields.get("addresses") === "1" ? true : undefined,
  };
}

// Show what the address asks for, or else what the page opens with.
async function followLink() {
  const link = readLink(location.hash);
  const { entry, index } = manifest.opening || { entry: null, index: null };
  const isCoordinate = ({ name, dims }) => dims && dims.length === 1 && dims[0] === name;
  const first = groups.findIndex((group) => (entry === null ? !isCoordinate(group[0].entry) : group[0].number === entry));
  if (link) await chooseGroup(link.number, link.index, link);
  else await chooseGroup(Math.max(0, first), index);
  note.text = state.group === null ? "" : describeLink();
}

function copyLink() {
  note.text = null; // written in any case
  writeLink();
  copyShown(location.href.replace(/#.*$/, "") + describeLink());
}
