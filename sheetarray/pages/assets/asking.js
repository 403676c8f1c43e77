// What a server on this machine is asked of whole arrays: statistics, searches and findings.

// Ask until all is said: the server answers how far it is, and is asked again as long as somebody wants to know.
async function askServer(verb, options, isWanted, onProgress) {
  for (;;) {
    const response = await fetch(`${verb}?${new URLSearchParams(options)}`, { cache: "no-store" }).catch(() => {
      throw new Error("the server has ended: run sheetarray page again");
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    if (!isWanted()) return null;
    if (answer.done >= answer.total) return answer;
    onProgress(`${Math.floor((100 * answer.done) / answer.total)} %`);
  }
}

// Bring the statistics of a whole array, the ranges of its colours, and its histograms, while `shown` is on the page.
async function bringSummary(array, shown = array) {
  if (array.summary || array.isSummed || !array.count) return;
  array.isSummed = true;
  const isWanted = () => Boolean(view) && groups[state.group][0] === shown;
  const showProgress = (text) => {
    array.progress = text;
    if (array === shown && planes.length && !planes[0].isAwaited) drawStatistics(array);
  };
  try {
    const summary = await askServer("summary", { entry: array.number }, isWanted, showProgress);
    if (!summary) return;
    summary.places = { least: summary.least, greatest: summary.greatest };
    for (const end of ["least", "greatest"]) {
      if (summary[end] === null || summary[end] === undefined) continue;
      const box = array.indexOf(summary[end]).map((position) => `${position}:${position + 1}:1`).join(",");
      summary[end] = await fetchBox(array.entry, array.number, box);
    }
    array.summary = { ...summary, deviation: summary.deviation === null ? Infinity : summary.deviation };
    if (isWanted()) drawSlice();
  } catch (error) {
    byId("message").textContent = error.message;
  } finally {
    array.isSummed = false;
  }
}

// Go to the largest difference of two arrays once the server has found it, unless somebody has moved meanwhile.
async function goToLargest() {
  const [array] = groups[state.group];
  const difference = arrays[array.entry.difference];
  const opened = note.text;
  if (!view || !difference) return;
  await bringSummary(difference, array);
  const { least, greatest } = difference.summary || {};
  const size = (end) => (end ? Math.abs(end.number(0)) : 0);
  const end = size(least) > size(greatest) ? "least" : "greatest";
  if (!view || describeLink() !== opened || !size(difference.summary?.[end])) return;
  setWholeIndex(difference.indexOf(difference.summary.places[end]));
}

// Return what is said of a whole array: pairs of a title and a text; null while it has not come.
function describeSummary(array) {
  if (!array.summary) return null;
  const text = (end) => (end ? (array.elements.isComplex ? roundNumber(end.number(0), 9) : end.text(0)) : "none");
  return describeStatistics(array.elements, array.summary, text);
}

function drawWholeHistogram(array) {
  if (!view.whole || !array.summary) return;
  const range = state.scale.endsWith("full") || array.count < 100 ? "full" : "2";
  const counts = array.summary.bars[range];
  const [below, above] = counts.slice(-2);
  const scale = array.summary.scales[range];
  view.whole.canvas.setAttribute("aria-label", drawBars(view.whole.canvas, { bars: counts.slice(0, -2), below, above }, scale, "how often in the array"));
}

// Search a whole array for a value, and go there.
async function findServed(array, query, isBack) {
  const request = (state.search += 1);
  const isWanted = () => request === state.search && Boolean(view) && groups[state.group][0] === array;
  view.found.textContent = query.trim() ? "searching …" : "";
  if (!query.trim()) return;
  const options = { entry: array.number, query, start: array.place(state.index), back: isBack ? 1 : 0 };
  try {
    const answer = await askServer("search", options, isWanted, (text) => (view.found.textContent = `searching … ${text}`));
    if (!answer) return;
    showMatch(array, answer);
  } catch (error) {
    view.found.textContent = "";
    byId("message").textContent = error.message;
  }
}

// Ask for the findings of all files, and list them.
async function bringFindings() {
  byId("findings").hidden = false;
  byId("findings-title").textContent = "Findings: checking …";
  const showProgress = (text) => (byId("findings-title").textContent = `Findings: checking … ${text}`);
  const answer = await askServer("findings", {}, () => true, showProgress).catch((error) => ({ findings: [], unlisted: 0, problem: error.message }));
  Object.assign(manifest, { findings: answer.findings, unlisted: answer.unlisted });
  listFindings();
  if (answer.problem) {
    byId("findings").hidden = false;
    byId("finding-list").append(make("li", {}, make("span", {}, make("strong", { class: "error" }, "not checked"), " ", isolate(answer.problem))));
  }
  if (view) drawSlice();
}
