"""`.jsonl` files for sheetarray: a line of JSON for each array, `["name", [flat list]]`."""

import json

import sheetarray.adapters as helpers
from sheetarray import ArrayInfo, Finding, FormatError, LinearArray
from sheetarray.registry import Format
from sheetarray.sheets import arrays_of_sheets as composite

JSONL = Format(name="jsonl", suffixes=(".jsonl",), module=__name__, stem="jsonl", title="JSON lines")
keeps_jsonl = helpers.Keeps(buffers=True, nested=True, labels=True)  # and every dtype, order and name


def write_jsonl(target, arrays, *, progress=helpers.ignore_progress):
    """Write arrays, a line each; a path is replaced as a whole."""
    columns = composite.spread(arrays, limit=helpers.CELL_CHARACTERS)  # an awkward array is several columns
    named = helpers.linear_arrays(columns, exact=2**53)  # refuses what no flat list holds, before anything is written
    done, total = 0, sum(array.capacity for array in named.values())
    progress(done, total)
    with helpers.replacing(target) as sink:
        for name, array in named.items():
            sink.write(json.dumps([name, array.to_cells()]).encode() + b"\n")
            progress(done := done + array.capacity, total)


def read_jsonl(source, names=None, *, progress=helpers.ignore_progress):
    """Read the arrays of a file, or those of some names."""
    lines = _Lines(source)
    total = sum(len(cells) for cells, _ in lines.lists.values())
    progress(0, total)
    arrays = composite.read_composites(lines.read, lines.scan, names)
    progress(total, total)
    return arrays


def scan_jsonl(source):
    """Return what the headers say."""
    lines = _Lines(source)
    return composite.scan_composites(lines.read, lines.scan)


def check_jsonl(source):
    """Yield every finding: one for each array that cannot be read, or one for the file."""
    try:
        lines = _Lines(source)
    except FormatError as error:
        yield Finding.from_error(error)
        return
    for name in lines.lists:
        try:
            lines.read([name])
        except FormatError as error:
            yield Finding.from_error(error)
    yield from composite.check_composites(lines.read, lines.scan)


class _Lines:
    """The flat list of each array, and the line where it stands, by name."""

    def __init__(self, source):
        self.lists = {}
        with helpers.Source(source) as opened, helpers.locating(source=opened.name):
            for number, line in enumerate(bytes(opened.whole()).splitlines(), 1):
                try:
                    name, cells = json.loads(line)
                except (ValueError, TypeError, RecursionError) as error:
                    raise FormatError(f"no name and flat list ({error})", location=f"line {number}") from error
                if not isinstance(name, str) or not isinstance(cells, list) or name in self.lists:
                    raise FormatError("no new name, or no flat list", location=f"line {number}")
                self.lists[name] = cells, f"line {number}"
            if not self.lists:
                raise FormatError("there is no array in this file")

    def read(self, names):
        """Return the arrays of some names; of all for None."""
        chosen = helpers.select(self.lists, names)
        return {name: self._linear(name, *chosen[name]).to_numpy() for name in chosen}

    def scan(self):
        """Return the info of each array."""
        infos = {}
        for name, (cells, line) in self.lists.items():
            header, start = helpers.parse_header(cells, address=f"{line}, item {{}}".format)
            layout = header.shape, header.dtype.name, header.order, header.strides
            infos[name] = ArrayInfo(*layout, line, start + header.capacity, header.offset, header.capacity)
        return infos

    def _linear(self, name, cells, line):
        return LinearArray.from_cells(cells, name=name, address=f"{line}, item {{}}".format)
