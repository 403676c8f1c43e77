// What is chosen, and the lists to choose from.

const manifest = JSON.parse(document.getElementById("manifest").textContent);
const arrays = manifest.entries.map((entry, number) => new SheetArray(entry, number));
const groups = groupEntries(manifest, arrays);
const palettes = { rising: makePalette(manifest.colours.rising), diverging: makePalette(manifest.colours.diverging) };
const SCALES = [
  ["array 2", "2 to 98 % of the array"],
  ["array full", "full range of the array"],
  ["slice 2", "2 to 98 % of the slice"],
  ["slice full", "full range of the slice"],
];
const UNSEEN = "This element is not on the page.";
const MOST_UNFILTERED = 15; // arrays in a list that is seen at once

// What is chosen. The index is that of the cursor: sliders move it along the axes that are not drawn.
const state = { group: null, panels: [], index: [], axes: [null, null], scale: SCALES[0][0], shown: 0, addresses: false, request: 0, tidy: null };
let view = null; // the parts of the page that belong to the chosen array; of an awkward one there is `state.tidy` instead
let planes = [];

const byId = (id) => document.getElementById(id);

// Show an array; `link` holds what else somebody wants to see of it: axes, scale, shown, addresses.
async function chooseGroup(number, index = null, link = {}) {
  const request = (state.request += 1);
  const group = groups[number];
  [...byId("list").querySelectorAll("button")].forEach((button, place) =>
    place === number ? button.setAttribute("aria-current", "true") : button.removeAttribute("aria-current"),
  );
  const [first] = group;
  byId("message").textContent = "";
  state.tidy = null;
  if (byId("main").getBoundingClientRect().top < 0) byId("main").scrollIntoView(); // further down, an array may have nothing
  if (first.entry.kind === "unread") {
    state.group = number;
    return showUnread(first.entry);
  }
  const loaded = first.entry.kind === "table" ? first.entry.columns.map((column) => arrays[column]) : withDifference(group, arrays);
  await Promise.all(loaded.map((array) => loadWithLabels(array, arrays)));
  if (request !== state.request) return undefined; // another one was chosen in the meantime
  state.group = number;
  if (first.entry.kind === "table") return showTidyTable(first.entry, loaded);
  state.panels = makePanels(group, manifest.files, arrays);
  state.index = index || first.shape.map(() => 0);
  state.axes = link.axes || chooseAxes(first);
  state.shown = state.panels[link.shown] ? link.shown : 0;
  state.addresses = link.addresses ?? first.shape.length < 2;
  state.scale = link.scale || state.scale;
  buildView(first);
  drawSlice();
  return undefined;
}

// The last two axes, before those of one element; a latitude goes down, as on a map.
function chooseAxes(array) {
  const { shape } = array;
  if (shape.length < 2) return [shape.length ? 0 : null, null];
  const order = [...shape.keys()].sort((a, b) => (shape[a] > 1) - (shape[b] > 1) || a - b);
  const [down, across] = order.slice(-2).sort((a, b) => a - b);
  return array.north(across) && !array.north(down) ? [across, down] : [down, across];
}

const wholeShape = ({ shape, excerpt }) => (excerpt && excerpt.shape) || shape;

function listArrays() {
  byId("title").textContent = manifest.files.join("  ·  ");
  document.title = `${manifest.files.join(", ")} - sheetarray`;
  byId("filter").hidden = groups.length <= MOST_UNFILTERED;
  byId("filter").addEventListener("input", filterArrays);
  groups.forEach(([{ entry }], number) => {
    const several = manifest.files.length > 1 && groups[number].length < manifest.files.length;
    const detail = [entry.dtype || entry.kind, entry.kind === "unread" ? "" : wholeShape(entry).join(" × ") || "one value", entry.location, several && manifest.files[entry.file]];
    const button = make(
      "button",
      { type: "button", on: { click: () => chooseGroup(number) } },
      isolate(entry.name, "strong"),
      make("small", {}, isolate(detail.filter(Boolean).join("  ·  "))),
      entry.excerpt ? make("small", {}, isolate(entry.excerpt.text)) : null,
      entry.dims && entry.dims.length ? make("small", {}, isolate(entry.dims.join(", "))) : null,
    );
    byId("list").append(make("li", {}, button));
  });
}

// Show the arrays of the list whose names hold a text, in small or capital letters.
function filterArrays() {
  const wanted = byId("filter").value.trim().toLowerCase();
  groups.forEach(([{ entry }], number) => {
    byId("list").children[number].hidden = !entry.name.toLowerCase().includes(wanted);
  });
}

function listFindings() {
  const { findings, unlisted } = manifest;
  byId("findings").hidden = !findings.length;
  byId("findings-title").textContent = `Findings (${countText(findings.length + unlisted)})`;
  for (const finding of findings) {
    const array = finding.entry === null ? null : arrays[finding.entry];
    if (array && finding.index && array.entry.kind !== "table") array.marks.set(array.place(finding.index), finding.message);
    const words = [make("strong", { class: finding.severity }, finding.severity), " ", isolate(finding.location, "b"), " ", isolate(finding.message)];
    if (finding.unseen) words.push(make("small", {}, UNSEEN));
    if (finding.hint) words.push(make("small", {}, isolate(finding.hint)));
    const number = groups.findIndex((group) => group.includes(array));
    const go = () => chooseGroup(number, finding.index || null);
    byId("finding-list").append(make("li", {}, number < 0 ? make("span", {}, ...words) : make("button", { type: "button", on: { click: go } }, ...words)));
  }
  if (unlisted) byId("finding-list").append(make("li", {}, `and ${countText(unlisted)} more, which sheetarray check lists`));
}
