// The theme, the keys, the size of the window, and the start.

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light theme" : "Dark theme";
  redraw();
}

// Draw all that is seen anew: in other colours, in another size, on another screen.
function redraw() {
  if (view) drawSlice();
  else if (state.tidy) state.tidy.show(state.tidy.grid);
}

// Notice a screen of other pixels, to which the window is moved or zoomed.
function watchPixels() {
  const pixels = window.matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
  pixels.addEventListener("change", () => {
    redraw();
    watchPixels();
  }, { once: true });
}

function pressKey(event) {
  const isTyping = event.target.matches("input:not([type=range]):not([type=checkbox]):not([type=radio]), select, textarea");
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || !view) return;
  if (event.key === "/") {
    event.preventDefault();
    if (byId("search")) byId("search").focus();
  }
  const slider = /^[1-9]$/.test(event.key) && view.sliders.querySelectorAll("input")[Number(event.key) - 1];
  if (slider) slider.focus();
}

function start() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  setTheme(dark.matches ? "dark" : "light");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  byId("theme").addEventListener("click", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  document.addEventListener("keydown", pressKey);
  let width = 0;
  new ResizeObserver(() => {
    if (width !== byId("main").clientWidth) redraw();
    width = byId("main").clientWidth;
  }).observe(byId("main"));
  watchPixels();
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    redraw();
  });
  window.addEventListener("afterprint", () => setTheme(dark.matches ? "dark" : "light"));
  listArrays();
  listFindings();
  if (manifest.merge) listConflicts();
  window.addEventListener("hashchange", () => {
    const link = readLink(location.hash);
    if (link) chooseGroup(link.number, link.index, link);
  });
  if (groups.length) return followLink();
  byId("message").textContent = "There is no array.";
  return Promise.resolve();
}

start()
  .catch((error) => {
    byId("message").textContent = `This browser cannot show the page: ${error.message}`;
  })
  .finally(() => {
    document.documentElement.dataset.ready = "true";
  });
