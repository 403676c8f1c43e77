// Panels: arrays of one name in several files side by side, and the difference of two.

// Group the entries that are listed: arrays of one name, shape and kind of dimension go together.
function groupEntries(manifest, arrays) {
  const groups = new Map();
  manifest.entries.forEach((entry, number) => {
    if (!entry.listed) return;
    const isAlone = entry.kind === "table" || entry.kind === "unread";
    const key = JSON.stringify([entry.name, entry.shape, entry.excerpt, isAlone ? number : ""]);
    const group = groups.get(key);
    if (group && !group.some((other) => other.entry.file === entry.file)) group.push(arrays[number]);
    else groups.set(group ? `${key}${number}` : key, [arrays[number]]);
  });
  return [...groups.values()];
}

// Return the elements of a slice along two axes: their numbers, row by row, and the place of each in its array.
function takePlane(array, index, [rowAxis, columnAxis], numberAt) {
  const rows = rowAxis === null ? 1 : array.shape[rowAxis];
  const columns = columnAxis === null ? 1 : array.shape[columnAxis];
  const start = array.place(index.map((position, axis) => (axis === rowAxis || axis === columnAxis ? 0 : position)));
  const down = rowAxis === null ? 0 : array.strides[rowAxis];
  const across = columnAxis === null ? 0 : array.strides[columnAxis];
  const placeAt = (row, column) => start + row * down + column * across;
  const numbers = new Float64Array(rows * columns);
  let next = 0;
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      numbers[next] = numberAt(placeAt(row, column));
      next += 1;
    }
  }
  return { rows, columns, numbers, placeAt };
}

// The arrays of a group, and their difference, if they are two.
function withDifference(group, arrays) {
  const number = group.length === 2 ? group[0].entry.difference : undefined;
  return number === undefined ? group : [...group, arrays[number]];
}

// What is drawn of a group: one panel for each array, and for two of them the difference.
function makePanels(group, files, arrays) {
  return withDifference(group, arrays).map((array, number) => {
    const { elements } = array;
    const panel = {
      title: files[array.entry.file],
      array,
      colour: ["first", "second", "third", "fourth"][number % 4],
      isNumeric: elements.isNumeric,
      number: elements.number,
      text: elements.text,
      isMissing: elements.isMissing,
    };
    if (number < group.length) return panel;
    const title = group[0].elements.isNumeric ? "difference (second − first)" : "different (1) or the same (0)";
    const text = (place) => roundNumber(elements.number(place), 9);
    return { ...panel, title, isDifference: true, text };
  });
}
