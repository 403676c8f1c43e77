// The conflicts of a merge: who wrote what, whose value stands, and the choices as a file.

const chosen = manifest.merge ? manifest.merge.conflicts.map((conflict) => conflict.chosen) : [];

// List the conflicts.
function listConflicts() {
  const { files, conflicts, unlisted } = manifest.merge;
  byId("conflicts").hidden = false;
  const sayers = files.filter((file) => conflicts.some(({ options }) => options.some((option) => option.file === file)));
  const ofAll = makeSelect("choose-file", "All of", sayers.map((file) => [file, shortName(file)]), sayers[0], () => {});
  const take = make("button", { type: "button", id: "choose-all", on: { click: () => chooseAll(byId("choose-file").value) } }, "Choose");
  const clear = make("button", { type: "button", id: "choose-none", on: { click: () => chooseAll(null) } }, "Clear");
  const save = make("button", { type: "button", id: "save-choices", on: { click: saveChoices } }, "Save choices");
  byId("conflict-tools").replaceChildren(...(conflicts.length ? [ofAll, take, clear, save] : []));
  byId("conflict-list").replaceChildren(...conflicts.map(makeConflict));
  if (unlisted) byId("conflict-list").append(make("li", {}, make("span", {}, `and ${countText(unlisted)} more, which sheetarray merge --all lists`)));
  conflicts.forEach((conflict, number) => markConflict(number));
  countConflicts();
}

const groupOf = (entry) => groups.findIndex((some) => some.some((array) => array.number === entry));

function makeConflict(conflict, number) {
  const group = groupOf(conflict.entry);
  const go = () => chooseGroup(group, conflict.at || null);
  const title = [isolate(conflict.title, "strong"), conflict.where ? make("small", {}, isolate(conflict.where)) : null, conflict.unseen ? make("small", {}, UNSEEN) : null];
  const head = group < 0 ? make("span", {}, ...title) : make("button", { type: "button", on: { click: go } }, ...title);
  const options = conflict.options.map(({ file, text, cell }) => {
    const radio = make("input", { type: "radio", name: `conflict-${number}`, value: file, on: { change: () => choose(number, file) } });
    radio.checked = chosen[number] === file;
    return make("label", {}, radio, make("span", {}, isolate(shortName(file), "b"), " ", isolate(text, "code"), cell ? make("small", {}, isolate(cell)) : null));
  });
  return make("li", {}, head, make("fieldset", {}, make("legend", { class: "unseen" }, `Whose value stands in ${conflict.title}`), ...options));
}

const shortName = (file) => {
  const end = file.replace(/^.*[/\\]/, "");
  return manifest.merge.files.filter((other) => other.endsWith(end)).length > 1 ? file : end;
};

function choose(number, file) {
  chosen[number] = file;
  markConflict(number);
  countConflicts();
  if (view) drawCursor();
}

function chooseAll(file) {
  manifest.merge.conflicts.forEach(({ options }, number) => {
    if (file === null || options.some((option) => option.file === file)) chosen[number] = file;
    for (const radio of document.getElementsByName(`conflict-${number}`)) radio.checked = radio.value === chosen[number];
    markConflict(number);
  });
  countConflicts();
  if (view) drawCursor();
}

// Say in the heat map, in the table and beside the cursor who wrote what.
function markConflict(number) {
  const { entry, at, options } = manifest.merge.conflicts[number];
  if (entry === null || !at) return;
  const words = options.map(({ file, text }) => `${shortName(file)}: ${text}`).join(", ");
  const stands = chosen[number] === null ? "nobody has chosen" : `chosen: ${shortName(chosen[number])}`;
  arrays[entry].marks.set(arrays[entry].place(at), `conflict: ${words}; ${stands}`);
}

function countConflicts() {
  const left = chosen.filter((file) => file === null).length;
  byId("conflicts-title").textContent = `Conflicts (${countText(chosen.length)}, ${left ? `${countText(left)} not chosen` : "all chosen"})`;
}

function choicesText() {
  const choices = manifest.merge.conflicts.map(({ place }, number) => ({ ...place, choose: chosen[number] })).filter(({ choose: file }) => file !== null);
  return JSON.stringify({ base: manifest.merge.files[0], choices }, null, 1);
}

function saveChoices() {
  saveBlob(new Blob([choicesText()], { type: "application/json" }), "choices.json");
  byId("message").textContent = "Saved: choices.json, for sheetarray merge --choices";
}
