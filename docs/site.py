"""The pages of the site that stand elsewhere in the project: this hook of mkdocs adds them, and turns links to them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
ELSEWHERE = {
    "SECURITY.md": "security.md",
    "CHANGELOG.md": "changes.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/RESULTS.md": "figures.md",
    "sample_sheets/README.md": "samples.md",
    "README.md": "index.md",
}
_LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s:]+)(#[^)\s]*)?\)")


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages that stand elsewhere."""
    from mkdocs.structure.files import File

    for path, page in ELSEWHERE.items():
        if page != "index.md":
            files.append(File.generated(config, page, content=(ROOT / path).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Turn the links of a page: to pages that stand elsewhere, and from them."""
    sources = {target: path for path, target in ELSEWHERE.items() if target != "index.md"}
    folder = (ROOT / sources.get(page.file.src_uri, "docs/index.md")).parent
    return _LINK.sub(lambda match: _turn(folder, match), markdown)


def _turn(folder: Path, match: re.Match[str]) -> str:
    text, link, anchor = match[1], match[2], match[3] or ""
    target = (folder / link).resolve()
    if not target.is_relative_to(ROOT):
        return match[0]
    path = target.relative_to(ROOT).as_posix()
    if path in ELSEWHERE:
        return f"[{text}]({ELSEWHERE[path]}{anchor})"
    if path.startswith("docs/") and target.suffix in (".md", ".svg", ".png"):
        return f"[{text}]({path.removeprefix('docs/')}{anchor})"
    return text  # a file that the site does not show
