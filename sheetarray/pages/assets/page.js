// The theme, the keys, the size of the window, and the start.

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = theme === "dark" ? "Light theme" : "Dark theme";
  if (view) drawSlice();
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
    if (view && Math.abs(width - byId("main").clientWidth) > 1) drawSlice();
    width = byId("main").clientWidth;
  }).observe(byId("main"));
  window.addEventListener("beforeprint", () => {
    document.documentElement.dataset.theme = "light";
    if (view) drawSlice();
  });
  window.addEventListener("afterprint", () => setTheme(dark.matches ? "dark" : "light"));
  if (manifest.served) keepServer();
  listArrays();
  if (manifest.served) bringFindings();
  else listFindings();
  const opening = manifest.merge ? listConflicts() : null;
  if (opening) return opening();
  if (groups.length) return chooseGroup(0);
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
