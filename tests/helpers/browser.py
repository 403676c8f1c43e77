"""Pages in a browser, or read from their bytes."""

from __future__ import annotations

import base64
import json
import shutil
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from children import until

# A real browser for the pages: headless Chromium, driven as a person would, by mouse and keyboard.

_ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--lang=en-US")
_TRIES = 5  # of a click on what is drawn again at that moment
_READ_PIXELS = """
const [text, places, done] = arguments;
const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
createImageBitmap(new Blob([bytes])).then((picture) => {
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  const pen = canvas.getContext("2d", {willReadFrequently: true});
  pen.drawImage(picture, 0, 0);
  done(places.map(([x, y]) => [...pen.getImageData(x, y, 1, 1).data]));
});
"""
_DRAWN_TEXTS = """
const pen = CanvasRenderingContext2D.prototype, write = pen.fillText, texts = [];
pen.fillText = function (text, ...place) { texts.push(text); write.call(this, text, ...place); };
document.querySelector("#theme").click();
pen.fillText = write;
return texts;
"""
AXE = Path(__file__).parents[1] / "javascript" / "node_modules" / "axe-core" / "axe.min.js"


class Browser:
    """A browser with one page open at a time.

    Attributes:
        driver: selenium's.
    """

    def __init__(self, folder: Path) -> None:
        self.driver = _start()
        self._folder, self._count = folder, 0

    def open(self, html: str, *, dark: bool = False, width: int = 1280, height: int = 1100, fragment: str = "") -> None:
        """Show a page from the file system, perhaps with a fragment of its address; wait until it is ready."""
        self._count += 1
        path = self._folder / f"page{self._count}.html"
        path.write_text(html, encoding="utf-8")
        self.visit(path.as_uri() + fragment, dark=dark, width=width, height=height)

    def visit(self, url: str, *, dark: bool = False, width: int = 1280, height: int = 1100) -> None:
        """Show the page of an address, and wait until it is ready."""
        phone = width < 600
        theme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.resize(width, height, pixels=2 if phone else 1, phone=phone)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": theme})
        self.messages()
        self.requests()
        self.driver.get(url)
        self.wait_until("document.documentElement.dataset.ready === 'true'")

    def resize(self, width: int, height: int, *, pixels: float = 1, phone: bool = False) -> None:
        """Give the window another size, and the screen so many pixels for each of its own."""
        size = {"width": width, "height": height, "deviceScaleFactor": pixels, "mobile": phone}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def wait_until(self, condition: str) -> None:
        """Wait until an expression of JavaScript holds."""
        until(lambda: bool(self.run(f"return Boolean({condition})")))

    def run(self, script: str, *arguments: Any) -> Any:
        """Run JavaScript in the page, and return what it returns."""
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        """Return the first element of a CSS selector."""
        return self.driver.find_element("css selector", selector)

    def click(self, selector: str) -> None:
        """Click the first element of a CSS selector, again where the page has drawn another in its place meanwhile."""
        from selenium.common.exceptions import StaleElementReferenceException

        for _ in range(_TRIES):
            with suppress(StaleElementReferenceException):
                self.find(selector).click()
                return
        raise AssertionError(f"{selector} is drawn again and again")

    def texts(self, selector: str) -> list[str]:
        """Return the texts of all elements of a CSS selector, as they are in the page."""
        texts: list[str] = self.run(
            "return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector
        )
        return texts

    def press(self, *keys: str) -> None:
        """Press keys one after the other, wherever the focus is."""
        from selenium.webdriver.common.action_chains import ActionChains

        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            *held, last = key.split("+") if len(key) > 1 else [key]
            for name in held:
                chain.key_down(_key(name))
            chain.send_keys(_key(last))
            for name in held:
                chain.key_up(_key(name))
        chain.perform()

    def focus(self, selector: str) -> None:
        """Give an element the focus."""
        self.run("document.querySelector(arguments[0]).focus()", selector)

    def select(self, selector: str, value: str) -> None:
        """Choose an option of a list by its value."""
        from selenium.webdriver.support.select import Select

        Select(self.find(selector)).select_by_value(value)

    def click_at(self, selector: str, x: float, y: float) -> None:
        """Click with the mouse at a place within an element, in pixels from its corner."""
        from selenium.webdriver.common.action_chains import ActionChains

        node = self.find(selector)
        self.run("arguments[0].scrollIntoView({block: 'center'})", node)
        size = node.size
        ActionChains(self.driver, duration=0).move_to_element_with_offset(
            node, round(x - size["width"] / 2), round(y - size["height"] / 2)
        ).click().perform()

    def choose_array(self, number: int) -> None:
        """Click an array of the list, and wait until it is shown."""
        button = self.driver.find_elements("css selector", "#list button")[number]
        name = self.run("return arguments[0].querySelector('strong').textContent", button)
        button.click()
        self.wait_until(f"(document.querySelector('#slice') || {{}}).textContent?.startsWith({json.dumps(name)})")

    def save(self, selector: str, folder: Path, name: str) -> Path:
        """Click what saves a file; return its path when the browser, which makes an empty one first, has filled it."""
        how = {"behavior": "allow", "downloadPath": str(folder)}
        self.driver.execute_cdp_cmd("Browser.setDownloadBehavior", how)
        self.click(selector)
        until(lambda: (folder / name).exists() and (folder / name).stat().st_size > 0)
        return folder / name

    def messages(self) -> list[str]:
        """Return what the console has said since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses that were asked for since the last call."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]

    def picture(self, *, whole: bool = False) -> bytes:
        """Return what is seen, or the whole page, as PNG."""
        options: dict[str, Any] = {"captureBeyondViewport": whole}
        if whole:
            width, height = self.run("return [innerWidth, document.documentElement.scrollHeight]")
            options["clip"] = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"])

    def colours(self, png: bytes, places: Sequence[tuple[float, float]]) -> list[list[int]]:
        """Return red, green, blue and opacity of a PNG at some places, each x and y in pixels."""
        colours: list[list[int]] = self.driver.execute_async_script(
            _READ_PIXELS, base64.b64encode(png).decode(), list(places)
        )
        return colours

    def drawn_texts(self) -> list[str]:
        """Return the texts that the page writes into its pictures when it draws them again."""
        texts: list[str] = self.run(_DRAWN_TEXTS)
        return texts

    def violations(self, *, rules: tuple[str, ...] = ()) -> list[str]:
        """Return the objections of axe to the page, by some of its rules or all; skip where axe is not installed."""
        if not AXE.exists():
            pytest.skip("axe-core is not installed (npm install --prefix tests/javascript)")
        if not self.run("return 'axe' in window"):
            self.run(AXE.read_text(encoding="utf-8"))
        # what is no violation is not listed node by node
        options = {"resultTypes": ["violations"], **({"runOnly": list(rules)} if rules else {})}
        report = self.driver.execute_async_script(
            "axe.run(document, arguments[0]).then(arguments[arguments.length - 1])", options
        )
        return [
            f"{result['id']}: {node['html']:.200} {node['failureSummary']}"
            for result in report["violations"]
            for node in result["nodes"]
        ]


def _key(name: str) -> str:
    from selenium.webdriver.common.keys import Keys

    return str(getattr(Keys, name)) if len(name) > 1 else name


def _start() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = str(shutil.which("chromium"))
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(options=options, service=Service(str(shutil.which("chromedriver"))))


@contextmanager
def running_browser(folder: Path) -> Iterator[Browser]:
    """Start the browser, and end it; skips where there is none."""
    pytest.importorskip("selenium", reason="selenium is not installed")
    if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
        pytest.skip("Chromium and its driver are not installed (apt-get install chromium chromium-driver)")
    browser = Browser(folder)
    try:
        yield browser
    finally:
        browser.driver.quit()


# What a page holds, taken out of its HTML and decoded again, without a browser.


class PageReader(HTMLParser):
    """The manifest, the blobs, the policy and all else that stands in a page.

    Attributes:
        scripts: texts of `script` elements, by id; that of the program has none.
        tags: every element with its attributes.
    """

    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: dict[str, str] = {}
        self.styles: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._within: tuple[str, str] | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within = (tag, dict(attrs).get("id") or "program")

    def handle_endtag(self, tag: str) -> None:
        self._within = None

    def handle_data(self, data: str) -> None:
        if self._within and self._within[0] == "script":
            self.scripts[self._within[1]] = self.scripts.get(self._within[1], "") + data
        elif self._within and self._within[0] == "style":
            self.styles.append(data)

    @property
    def manifest(self) -> dict[str, Any]:
        manifest: dict[str, Any] = json.loads(self.scripts["manifest"])
        return manifest

    @property
    def policy(self) -> str:
        policies = [attrs["content"] for tag, attrs in self.tags if tag == "meta" and "http-equiv" in attrs]
        assert len(policies) == 1
        return str(policies[0])

    def blob(self, number: int) -> bytes:
        return zlib.decompress(base64.b64decode(self.scripts[f"blob-{number}"], validate=True))

    def elements(self, entry: dict[str, Any]) -> list[Any]:
        """Return the elements of an entry: numbers as NumPy has them, text as it is."""
        buffers = [self.blob(number) for number in entry["blobs"]]
        if entry["layout"] != "text":
            return list(np.frombuffer(buffers[0], "<" + entry["layout"]))
        ends = np.cumsum([0, *np.frombuffer(buffers[0], "<u4")])
        return [buffers[1][2 * start : 2 * end].decode("utf-16-le", "surrogatepass") for start, end in pairwise(ends)]

    def entry(self, name: str) -> dict[str, Any]:
        (entry,) = [entry for entry in self.manifest["entries"] if entry["name"] == name and entry["listed"]]
        return dict(entry)
