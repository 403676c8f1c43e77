"""Delete an adapter in a copy of the project, and run the tests of all the rest: they have to pass.

    python tests/house/delete_adapter.py interchange/rawarray interchange/avro sheets/google [-- options of pytest]

Each is deleted alone, from a whole copy, and those that a plus joins together: its folder or module, its rows in the
registry, the folder of its tests, its row in the table of docs/formats.md, and the examples of the documentation that
use it. Nothing else is touched. A test that stands elsewhere and asks for a deleted format is skipped, and says so.
Without options the whole rest of the tests runs, in as many processes as there are cores.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "tests" / "javascript" / "node_modules"  # which the tests of foreign programs need
# Not what Python has compiled: a copy of that is good for a copy of its source, which has the same time.
# Compiled modules are copied, and spare the copy the time; not those that another process is about to write.
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "node_modules", "*.egg-info", "*.pyc.*")


def delete_adapter(project: Path, adapter: str) -> None:
    """Delete an adapter, such as `interchange/rawarray`, from a copy of the project."""
    module = project / "sheetarray" / adapter
    shutil.rmtree(module) if module.is_dir() else module.with_suffix(".py").unlink()
    shutil.rmtree(project / "tests" / adapter)
    table = project / "sheetarray" / "formats" / "inside.py"
    suffixes, stems = _delete_rows(table, "sheetarray." + adapter.replace("/", "."))
    _delete_from_docs(project / "docs", adapter, suffixes, stems)


def _delete_rows(table: Path, module: str) -> tuple[set[str], set[str]]:
    """Delete the rows of a module from the table of formats; return the suffixes that were theirs alone, and stems."""
    text = table.read_text(encoding="utf-8")
    lines, suffixes, stems = text.splitlines(keepends=True), set[str](), set[str]()
    (rows,) = (
        node.value.elts
        for node in ast.parse(text).body
        if isinstance(node, ast.Assign)
        and ast.unparse(node.targets[0]) == "_ROWS"
        and isinstance(node.value, ast.Tuple)
    )
    kept = set[str]()
    for row in reversed(rows):
        _, its_suffixes, its_module, stem = (ast.literal_eval(argument) for argument in row.args[:4])
        if its_module == module:
            suffixes |= set(its_suffixes)
            stems.add(stem)
            del lines[row.lineno - 1 : row.end_lineno]
        else:
            kept |= set(its_suffixes)
    suffixes -= kept
    table.write_text("".join(lines), encoding="utf-8")
    return suffixes, stems


def _delete_from_docs(docs: Path, adapter: str, suffixes: set[str], stems: set[str]) -> None:
    """Delete an adapter's row from the table of formats, and the examples that use it."""
    package, name = adapter.split("/")
    signs = [rf"[\w}}]{re.escape(suffix)}\b" for suffix in suffixes] + [rf"_{stem}\b" for stem in stems]
    uses = re.compile("|".join([rf"import .*\b{name}\b", rf"{package}\.{name}\b", *signs]))
    for page in docs.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        text = re.sub(
            r"```(?:python|console)\n.*?```\n",
            lambda block: "" if uses.search(block[0]) else block[0],
            text,
            flags=re.DOTALL,
        )
        for suffix in suffixes:
            text = re.sub(rf"(?m)^\| [^|]*`{re.escape(suffix)}`[^|]*\|.*\n", "", text)
        page.write_text(text, encoding="utf-8")


def run_the_rest(project: Path, adapters: str, options: list[str]) -> int:
    """Delete adapters in a copy at `project`, made whole before, and return the exit status of pytest there."""
    shutil.copytree(ROOT, project, ignore=LEFT_OUT, dirs_exist_ok=True)
    if PROGRAMS.is_dir() and not (linked := project / PROGRAMS.relative_to(ROOT)).exists():
        linked.symlink_to(PROGRAMS.resolve())
    for adapter in adapters.split("+"):
        delete_adapter(project, adapter)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    compiled = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run(command, cwd=project, env=compiled | {"PYTHONPATH": str(project)}, check=False).returncode


def main(arguments: list[str]) -> int:
    """Run the rest of the tests without each of some adapters, or some of them together; return 1 if any failed."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = arguments[end + 1 :] if "--" in arguments else ["-n", "auto", "--dist", "worksteal"]
    with tempfile.TemporaryDirectory(prefix="sheetarray-") as folder:  # one, so that modules are compiled once
        project = Path(folder) / "project"
        statuses = {adapters: run_the_rest(project, adapters, options) for adapters in arguments[:end]}
    for adapters, status in statuses.items():
        sys.stdout.write(f"without {adapters}: {'all tests pass' if status == 0 else f'pytest ended with {status}'}\n")
    return int(any(statuses.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
