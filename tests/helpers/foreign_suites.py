"""The tests that other packages ship with their sources, run against the emulator of Google Sheets.

`python tests/helpers/foreign_suites.py` downloads the sources into a folder that is gone afterwards, and says what
passes.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEY = "1P3rdCDxfO760TJdE-cbi0k_yy9vmC-joapjuGw9vNjc"


@dataclass(frozen=True)
class Suite:
    """The tests of a package: its name and version, the file below its folder, and those that cannot pass, with why."""

    package: str
    version: str
    file: str
    exceptions: dict[str, str] = field(default_factory=dict)


SUITES = [
    Suite("gspread-dataframe", "4.0.0", "tests/gspread_dataframe_integration.py"),
    Suite("gspread-formatting", "1.2.0", "test.py"),
]

# What stands in for a service account and its key; every request goes to an emulator of the run's own.
CONFTEST = f"""
import sys, types
import gspread
from sheetarray.testing.sheets_server import SheetsServer

server = SheetsServer()
server.create("for tests", key={KEY!r})
account = types.ModuleType("oauth2client.service_account")

class ServiceAccountCredentials:
    @staticmethod
    def from_json_keyfile_name(*_):
        return None

account.ServiceAccountCredentials = ServiceAccountCredentials
sys.modules["oauth2client"] = types.ModuleType("oauth2client")
sys.modules["oauth2client.service_account"] = account
gspread.authorize = lambda *_, **__: server.client()

def pytest_sessionfinish():
    server.close()
"""


def run(archives: Path, folder: Path) -> list[tuple[set[str], dict[str, str]]]:
    """Run all suites in one process; return of each the tests that pass, and what the others say.

    Args:
        archives: the folder of the sources that were downloaded.
        folder: where they are unpacked.
    """
    sources = [_unpack(suite, archives, folder) for suite in SUITES]
    for suite, source in zip(SUITES, sources, strict=True):
        ((source / suite.file).parent / "tests.config").write_text(f"[Spreadsheet]\nid: {KEY}\n")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text("[pytest]\npython_classes = *Test\n")
    command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "--import-mode=importlib", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [
            *command,
            "-q",
            "-rA",
            "--tb=line",
            *(source / suite.file for suite, source in zip(SUITES, sources, strict=True)),
        ],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, [ROOT, *sources])),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        },
        capture_output=True,
        text=True,
    )
    results = []
    for source in sources:
        test = rf"{re.escape(source.name)}/\S+?::(\w+)"
        passed = set(re.findall(rf"^PASSED {test}$", done.stdout, re.MULTILINE))
        failed = dict(re.findall(rf"^(?:FAILED|ERROR) {test}(?: - (.*))?$", done.stdout, re.MULTILINE))
        if not passed:
            raise RuntimeError(done.stdout + done.stderr)
        results.append((passed, failed))
    return results


def download(suite: Suite, folder: Path) -> bool:
    """Fetch a package's source, unless it is there; return whether there is an index that has it."""
    if list(folder.glob(f"{suite.package.replace('-', '?')}-{suite.version}.tar.gz")):
        return True
    wanted = f"{suite.package}=={suite.version}"
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--no-binary", suite.package, "--retries", "0", "--timeout", "10"]
    with tempfile.TemporaryDirectory(dir=folder) as unfinished:  # an interrupted run leaves no half of an archive
        done = subprocess.run([*command, "--dest", unfinished, wanted], capture_output=True, text=True)
        for archive in Path(unfinished).iterdir():
            archive.replace(folder / archive.name)
    return done.returncode == 0


def _unpack(suite: Suite, archives: Path, folder: Path) -> Path:
    (archive,) = archives.glob(f"{suite.package.replace('-', '?')}-{suite.version}.tar.gz")
    with tarfile.open(archive) as packed:
        packed.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def main() -> int:
    """Run all suites, and say what is not as it was expected."""
    unexpected = 0
    with tempfile.TemporaryDirectory() as name:
        if not all(download(suite, Path(name)) for suite in SUITES):
            sys.stderr.write("no index has these packages\n")
            return 2
        for suite, (passed, failed) in zip(SUITES, run(Path(name), Path(name)), strict=True):
            sys.stdout.write(f"{suite.package} {suite.file}: {len(passed)} pass, {len(failed)} do not\n")
            for test, reason in failed.items():
                sys.stdout.write(f"  {test}: {reason}\n    {suite.exceptions.get(test, 'not expected')}\n")
            unexpected += failed.keys() != suite.exceptions.keys()
    return int(unexpected > 0)


if __name__ == "__main__":
    sys.exit(main())
