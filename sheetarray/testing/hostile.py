"""The suite of hostile files that every format passes: files that were cut, changed, flooded or inflated.

    from sheetarray.testing.conformance import HostileConformance

    class TestHostileColors(HostileConformance):
        suffix, format = ".colors", "colors"

Whatever a file holds, `read` must return arrays or raise an error of sheetarray. `check` must raise nothing, and must
find an error exactly if `read` raises one. Time and memory are limited. The suite makes its files from samples: files
that the adapter wrote, or files that the subclass adds. It makes the same files in every run.
"""

from __future__ import annotations

import io
import random
import re
import shutil
import struct
import time
import tracemalloc
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import sheetarray as sa

from ..errors import may_be_table
from ..files import COMPRESSIONS
from ..formats import FORMATS
from .archives import contradict, nest
from .bombs import BOMBS
from .cases import objects
from .conformance_hooks import ConformanceHooks

Content = bytes | Mapping[str, bytes]  # of a file, or of the files in a folder by their paths in it

ARRAYS = {
    "t": np.array([[1.5, -0.0], [np.nan, 2e300]]),
    "i": np.array([1, 2, 3], dtype="int8"),
    "s": np.array(["a", 'q"q', "x,y", "ü"]),
    "c": np.array([1 + 2j]),
    "d": np.array(["2020-01-01"], dtype="M8[D]"),
    "b": np.array([[True], [False]]),
    "g": objects(None, 1, "1", True),
}
NUMBERS = (  # at the edges of what sizes, counts and positions may be
    *(0, 1, 2, 3, 4, 7, 8, 16, 64, 65, 255, 256, 2**15, 2**16, 2**20, 2**31 - 1, 2**31, 2**32 - 1, 2**32),
    *(2**40, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1),
)
NUMERALS = (b"0", b"-1", b"1.5", b"1e999", b"0x10", b"NaN", b"", b"9" * 10, b"9" * 20, b"9" * 5000)
UNITS = (  # what floods are made of: brackets, tags and containers that nothing closes, quotes, separators, bytes
    *(b"[", b'{"a":', b"(", b"<a>", b"{'a': (", b"\x91", b"\x81\xa1a", b'"', b"'", b"\\", b",", b"\n", b"a,", b"&lt;"),
    *(b"\0", b"\x01", b"\x80", b"\xff", b"0,", b"9", b" "),
)
_MAGICS = (b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"PK\3\4", b"PK\5\6", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")


def mutate(content: bytes, source: random.Random, words: Sequence[bytes] = (), *, header: int | None = None) -> bytes:
    """Return a copy with one to four changes, most of them in the first `header` bytes."""
    changed = bytearray(content)
    for _ in range(source.choice((1, 1, 1, 2, 2, 4))):
        most = len(changed) if header is None or source.random() < 0.25 else min(header, len(changed))
        at, kind = source.randrange(most + 1), source.randrange(9 if words else 8)
        if kind == 0:
            changed[at : at + 1] = source.randbytes(1)
        elif kind == 1:
            changed[at : at + 1] = bytes(byte ^ 1 << source.randrange(8) for byte in changed[at : at + 1])
        elif kind == 2:
            del changed[at : at + source.choice((1, 2, 8, 50))]
        elif kind == 3:
            changed[at:at] = source.randbytes(source.choice((1, 2, 8, 50)))
        elif kind == 4:
            changed[at // 8 * 8 : at // 8 * 8 + 8] = struct.pack("<Q", source.choice(NUMBERS))
        elif kind == 5:
            size, mark = source.choice(((1, "B"), (2, "<H"), (4, "<I"), (8, ">Q")))
            changed[at : at + size] = struct.pack(mark, source.choice(NUMBERS) % 256**size)
        elif kind == 6:
            start = source.randrange(len(changed) + 1)
            changed[at:at] = changed[start : start + source.choice((4, 8, 30))]
        elif kind == 7:
            del changed[source.randrange(len(changed) + 1) :]
        else:
            changed[at : at + source.randrange(9)] = source.choice(words)
    return bytes(changed)


def claim_more(content: bytes, source: random.Random) -> bytes:
    """Return a copy in which one number, of bytes or of digits, is another one."""
    numerals = list(re.finditer(rb"\d+", content))
    if numerals and source.random() < 0.5:
        numeral = source.choice(numerals)
        return content[: numeral.start()] + source.choice(NUMERALS) + content[numeral.end() :]
    size, mark = source.choice(((1, "B"), (2, "<H"), (4, "<I"), (4, ">I"), (8, "<Q"), (8, ">Q")))
    at = source.randrange(max(len(content) - size, 0) + 1)
    return content[:at] + struct.pack(mark, source.choice(NUMBERS) % 256**size) + content[at + size :]


def compress_bomb(start: bytes, size: int, *, wbits: int) -> bytes:
    """Return a start and zeros, so many bytes in all, compressed but for the end of the stream."""
    packer = zlib.compressobj(9, wbits=wbits)
    head = packer.compress(start) + packer.flush(zlib.Z_FULL_FLUSH)
    piece = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)  # refers to nothing before it
    return head + piece * (size // 2**20)


@contextmanager
def limited_memory(most: int) -> Iterator[None]:
    """Limit the memory of a block. On Linux, the system raises a MemoryError; elsewhere, Python counts the bytes.

    Memory that was freed before may be taken besides.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        tracemalloc.start()
        try:
            yield
            assert tracemalloc.get_traced_memory()[1] < most
        finally:
            tracemalloc.stop()
        return
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    taken = next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmData"))
    limit = taken * 1024 + most
    resource.setrlimit(resource.RLIMIT_DATA, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


class HostileConformance(ConformanceHooks):
    """Tests that every damaged file gives arrays or an error of sheetarray, in limited time and memory.

    Attributes, besides those of `ConformanceHooks`:
        words: words of the format that the tests put into files.
        reads_cut: whether a file that was cut short may be read without an error, such as text without an end mark.
        tries: the number of files that each test makes of each sample.
        seconds: the CPU time that reading, scanning and checking one file may take together.
        memory: the bytes of memory that one file may take. Each file is far smaller.
        inflated: the bytes to which a decompression bomb inflates.
        part: how many times smaller the files of `sheetarray.testing.bombs` are, which repeat something very often.
    """

    words: Sequence[bytes] = ()
    reads_cut = False
    tries = 100
    seconds = 10.0
    memory = 2**28
    inflated = 2**30
    part = 1

    # Hooks ---------------------------------------------------------------------------------------------------

    def samples(self, place: Path) -> Mapping[str, Content]:
        """Return intact files by name, from which the tests make damaged ones. By default the adapter writes them."""
        arrays = self._select_expected(ARRAYS)
        groups = {"all": arrays} if self.holds_several else {name: {name: array} for name, array in arrays.items()}
        result = {name: self._written(place, group) for name, group in groups.items()}
        if not all(isinstance(content, bytes) for content in result.values()):  # a folder of files with one array each
            result["alone"] = self._written(place, {"t": arrays["t"]})
        return result

    # The tests -----------------------------------------------------------------------------------------------

    def test_what_is_made_hostile_is_fine_before(self, place: Path) -> None:
        for name, content in self.samples(place).items():
            assert self._survives(place, content), name

    def test_a_file_that_is_cut_short_is_refused(self, place: Path) -> None:
        for name, content in self.samples(place).items():
            for part, cut, rebuilt in self._each_cut(content):
                if self._survives(place, rebuilt) and not self.reads_cut:
                    same = self._describe(place, rebuilt) == self._describe(place, content)  # a last line feed is cut
                    assert same, f"{cut} bytes of {part or 'the file'} were read as other arrays ({name})"

    def test_changed_files_are_read_or_refused(self, place: Path) -> None:
        self._try_changes(place, "changed", lambda content, source: mutate(content, source, self.words))

    def test_changed_heads_are_read_or_refused(self, place: Path) -> None:
        self._try_changes(place, "heads", lambda content, source: mutate(content, source, self.words, header=96))

    def test_claims_of_sizes_take_no_memory(self, place: Path) -> None:
        self._try_changes(place, "claims", claim_more)

    def test_floods_and_nesting_take_no_memory(self, place: Path) -> None:
        samples = list(self.samples(place).values())
        for number, unit in enumerate(UNITS):
            flood, content = unit * (100_000 // len(unit)), samples[number % len(samples)]
            if isinstance(content, bytes):
                self._survives(place, flood)
                self._survives(place, content[: len(content) // 2] + flood + content[len(content) // 2 :])
            parts = _parts_of(content)
            for part in [*parts][number % 3 :: len(parts) // 3 or 1]:  # three or four of them
                middle = len(parts[part]) // 2
                changed = flood if number % 2 else parts[part][:middle] + flood + parts[part][middle:]
                self._survives(place, _put_together(content, {**parts, part: changed}))

    def test_bytes_of_anything_are_read_or_refused(self, place: Path) -> None:
        source = random.Random(1)
        starts = {bytes(content[:size]) for content in self._files(place) for size in (1, 4, 8, 16, 64)}
        for start in [*_MAGICS, *sorted(starts)]:
            for size in (0, 1, 2, 3, 5, 20, 100, 1000):
                self._survives(place, start + source.randbytes(size))

    def test_compressed_files_are_cut_and_changed_too(self, place: Path) -> None:
        for packed in self._compressed(place):
            for _, cut, rebuilt in self._each_cut(packed):
                assert not self._survives(place, rebuilt), f"{cut} bytes of a compressed file were read"
            source = random.Random(2)
            for _ in range(self.tries):
                self._survives(place, mutate(packed, source))

    def test_bombs_take_no_memory(self, place: Path) -> None:
        files = self._files(place)
        bombs: list[bytes] = []
        if self.format is None or FORMATS[self.format].compressible:
            bombs += [compress_bomb(content[: len(content) // 2], self.inflated, wbits=31) for content in files[:1]]
        for content in files[:1]:
            parts = _parts_of(content)
            for part in sorted(parts, key=lambda name: -len(parts[name]))[:2]:
                bombs.append(_archive(parts, part, compress_bomb(parts[part], self.inflated, wbits=-15), self.inflated))
        for bomb in bombs:
            self._survives(place, bomb, memory=2**30, seconds=3 * self.seconds)

    def test_archives_that_contradict_themselves_are_refused(self, place: Path) -> None:
        for content in self._files(place)[:1]:
            if parts := _parts_of(content):
                suffix = Path(max(parts, key=lambda part: len(parts[part]))).suffix
                for wrong, archive in contradict(parts, name=f"held{suffix}").items():
                    assert not self._survives(place, archive), wrong
                self._survives(place, nest(parts))

    def test_what_is_repeated_is_counted(self, place: Path) -> None:
        for bomb in BOMBS.values():
            if bomb.format == self.format:
                self._survives(place, bomb.make(self.part), memory=2**30, seconds=3 * self.seconds)

    # Helpers -------------------------------------------------------------------------------------------------

    def _files(self, place: Path) -> list[bytes]:
        """Return the samples that are files, not folders."""
        return [content for content in self.samples(place).values() if isinstance(content, bytes)]

    def _written(self, place: Path, arrays: Mapping[str, Any]) -> Content:
        """Return what stands at a place when arrays have been written there, and remove it."""
        self.write(place, dict(arrays), **({} if self.format is None else {"format": self.format}))
        if not place.is_dir():
            content = place.read_bytes()
            place.unlink()
            return content
        files = {str(file.relative_to(place)): file.read_bytes() for file in sorted(place.rglob("*")) if file.is_file()}
        shutil.rmtree(place)
        return files

    def _compressed(self, place: Path) -> list[bytes]:
        """Return a compressed file of each kind, if the format's files may be."""
        if self.format is None or not FORMATS[self.format].compressible:
            return []
        array = self._select_expected({name: ARRAYS[name] for name in ("t", "i", "s")})
        name = next(iter(array))
        written = [self._written(place.with_name(place.name + end), {name: array[name]}) for end in COMPRESSIONS]
        return [content for content in written if isinstance(content, bytes)]

    def _try_changes(self, place: Path, seed: str, change: Callable[[bytes, random.Random], bytes]) -> None:
        """Change samples as a whole, and parts of those that are archives or folders."""
        for name, content in self.samples(place).items():
            source = random.Random(f"{seed} {name}")
            parts = _parts_of(content)
            for _ in range(self.tries):
                if isinstance(content, bytes) and (not parts or source.random() < 0.3):
                    self._survives(place, change(content, source))
                else:
                    part = source.choice(sorted(parts))
                    self._survives(place, _put_together(content, {**parts, part: change(parts[part], source)}))

    def _each_cut(self, content: Content) -> Iterable[tuple[str, int, Content]]:
        """Yield for some lengths, the first and last ones among them, the part that is cut, the length and the file."""
        parts = _parts_of(content)
        if isinstance(content, bytes):
            yield from (("", length, content[:length]) for length in _lengths(len(content), self.tries))
        for part, piece in parts.items():
            for length in _lengths(len(piece), self.tries // len(parts) + 1):
                yield part, length, _put_together(content, {**parts, part: piece[:length]})

    def _survives(
        self, place: Path, content: Content, *, memory: int | None = None, seconds: float | None = None
    ) -> bool:
        """Put content through every verb, and return whether it could be read; anything but our errors is a failure."""
        started, said = time.process_time(), f"{len(content)} bytes" if len(content) > 4000 else repr(content)
        outcomes: dict[str, list[Any]] = {}
        refused = ""  # the reason of the error that `read` raised
        for verb in (self.read, self.scan, self.check):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", sa.SheetArrayWarning)
                try:
                    with limited_memory(memory or self.memory):
                        outcomes[verb.__name__] = self._put(verb, place, content)
                except sa.SheetArrayError as error:
                    if verb.__name__ == "check" or len(str(error)) < 10:
                        raise AssertionError(f"{verb.__name__} raised {error!r} for {said}") from error
                    outcomes[verb.__name__] = []
                    refused = getattr(error, "reason", "") if verb.__name__ == "read" else refused
                except Exception as error:
                    raise AssertionError(f"{verb.__name__} raised {error!r} for {said}") from error
        used = time.process_time() - started
        assert used <= (seconds or self.seconds), f"{used:.1f} s of CPU time for {said}"
        errors = [finding for finding in outcomes["check"] if finding.severity == "error"]
        if may_be_table(refused or "") and outcomes["scan"] and not errors:
            return False  # an ordinary table: `read` refuses it, and `check` says what is doubtful in it
        assert bool(outcomes["read"]) != bool(errors), f"read gives {outcomes['read']}, check {errors} for {said}"
        assert not outcomes["read"] or sorted(outcomes["scan"]) == sorted(outcomes["read"]), said
        return bool(outcomes["read"])

    def _put(self, verb: Callable[..., Any], place: Path, content: Content) -> list[Any]:
        """Return what a verb gives for some content: names, or findings."""
        if isinstance(content, bytes) and self.format is not None and self.binary:
            result = verb(io.BytesIO(content), format=self.format)
        else:
            _put_at(place, content)
            result = verb(place)
        if verb.__name__ == "read":
            arrays = [array for array in result.values() if isinstance(array, np.ndarray)]
            assert all(array.tobytes() is not None for array in arrays if array.nbytes < 10**6)  # each byte is there
        return list(result)

    def _describe(self, place: Path, content: Content) -> str:
        """Return a text of the arrays in some content, in which equal elements are equal."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", sa.SheetArrayWarning)
            if isinstance(content, bytes) and self.format is not None and self.binary:
                arrays = self.read(io.BytesIO(content), format=self.format)
            else:
                _put_at(place, content)
                arrays = self.read(place)
        return repr({name: getattr(array, "tolist", array.__repr__)() for name, array in arrays.items()})


def _lengths(size: int, count: int) -> list[int]:
    """Return about so many lengths below a size: the first, the last, and some between them."""
    ends = max(count // 4, 1)
    return sorted({*range(min(ends, size)), *range(max(size - ends, 0), size), *range(0, size, size // ends + 1)})


def _put_at(place: Path, content: Content) -> None:
    """Write a file or a folder, and replace the old one."""
    if isinstance(content, bytes):
        place.write_bytes(content)
        return
    shutil.rmtree(place, ignore_errors=True)
    for name, piece in content.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(piece)


def _parts_of(content: Content) -> dict[str, bytes]:
    """Return the members of an archive, or the files of a folder; nothing for any other file."""
    if not isinstance(content, bytes):
        return dict(content)
    if not content.startswith(b"PK\3\4"):
        return {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _put_together(content: Content, parts: Mapping[str, bytes]) -> Content:
    """Return an archive or a folder of other parts."""
    if not isinstance(content, bytes):
        return parts
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, piece in parts.items():
            archive.writestr(name, piece)
    return file.getvalue()


def _archive(parts: Mapping[str, bytes], part: str, packed: bytes, size: int) -> bytes:
    """Return an archive whose directory says that one part, which is given compressed, inflates to a size."""
    whole = _put_together(b"PK", {**parts, part: packed})
    assert isinstance(whole, bytes)
    changed = bytearray(whole)
    start = 0
    for mark, method, length in ((b"PK\3\4", 8, 22), (b"PK\1\2", 10, 24)):
        names = 30 if mark == b"PK\3\4" else 46
        start = changed.index(mark)
        while bytes(changed[start + names : start + names + len(part)]) != part.encode():
            start = changed.index(mark, start + 4)
        struct.pack_into("<H", changed, start + method, zipfile.ZIP_DEFLATED)
        struct.pack_into("<I", changed, start + length, size)
    return bytes(changed)
