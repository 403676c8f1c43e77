// Elements of the page. Names and texts of files go in as text only: nothing in them is ever read as HTML.

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, handler] of Object.entries(value)) node.addEventListener(event, handler);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// Put a text of a file into a node: its direction is its own, and does not turn what stands beside it.
function isolate(text, tag = "bdi") {
  return make(tag, { dir: "auto" }, text);
}

function makeSelect(id, title, options, value, onChange) {
  const select = make(
    "select",
    { id, on: { change: () => onChange(select.value) } },
    ...options.map(([key, text]) => make("option", { value: key, selected: String(key) === String(value) }, text)),
  );
  return make("div", { class: "field" }, make("label", { for: id }, title), select);
}

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = make("textarea", { "aria-hidden": "true" }); // where the clipboard is closed, as in a frame
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

// Have the browser save a file.
function saveBlob(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
  byId("message").textContent = `Saved: ${name}`;
}
