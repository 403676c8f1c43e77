"""`.jsonl` files for sheetarray: a line of JSON for each array, `["name", [flat list]]`."""

import json

import sheetarray.adapters as helpers
from sheetarray import ArrayInfo, Finding, FormatError, LinearArray
from sheetarray.registry import Format

JSONL = Format(name="jsonl", suffixes=(".jsonl",), module=__name__, stem="jsonl", title="JSON lines")
keeps_jsonl = helpers.Keeps(buffers=True)  # every dtype, strides and order, the names, several arrays in a file


def write_jsonl(target, arrays, *, progress=helpers.ignore_progress):
    """Write arrays, a line each; a path is replaced as a whole."""
    named = helpers.linear_arrays(arrays, exact=2**53)  # refuses what no flat list holds, before anything is written
    done, total = 0, sum(array.capacity for array in named.values())
    progress(done, total)
    with helpers.replacing(target) as sink:
        for name, array in named.items():
            sink.write(json.dumps([name, array.to_cells()]).encode() + b"\n")
            progress(done := done + array.capacity, total)


def read_jsonl(source, names=None, *, progress=helpers.ignore_progress):
    """Read the arrays of a file, or those of some names."""
    lists, arrays = helpers.select(_flat_lists(source), names), {}
    done, total = 0, sum(len(cells) for cells, _ in lists.values())
    progress(done, total)
    for name, (cells, line) in lists.items():
        arrays[name] = LinearArray.from_cells(cells, name=name, address=f"{line}, item {{}}".format).to_numpy()
        progress(done := done + len(cells), total)
    return arrays


def scan_jsonl(source):
    """Return what the headers say."""
    infos = {}
    for name, (cells, line) in _flat_lists(source).items():
        header, start = helpers.parse_header(cells, address=f"{line}, item {{}}".format)
        layout = header.shape, header.dtype.name, header.order, header.strides
        infos[name] = ArrayInfo(*layout, line, start + header.capacity, header.offset, header.capacity)
    return infos


def check_jsonl(source):
    """Yield every finding: one for each array that cannot be read, or one for the file."""
    try:
        for name, (cells, line) in _flat_lists(source).items():
            try:
                LinearArray.from_cells(cells, name=name, address=f"{line}, item {{}}".format)
            except FormatError as error:
                yield Finding.from_error(error)
    except FormatError as error:
        yield Finding.from_error(error)


def _flat_lists(source):
    """Return the flat list of each array, and the line where it stands, by name."""
    lists = {}
    with helpers.Source(source) as opened, helpers.locating(source=opened.name):
        for number, line in enumerate(bytes(opened.whole()).splitlines(), 1):
            try:
                name, cells = json.loads(line)
            except (ValueError, TypeError, RecursionError) as error:
                raise FormatError(f"no name and flat list ({error})", location=f"line {number}") from error
            if not isinstance(name, str) or not isinstance(cells, list) or name in lists:
                raise FormatError("no new name, or no flat list", location=f"line {number}")
            lists[name] = cells, f"line {number}"
        if not lists:
            raise FormatError("there is no array in this file")
    return lists
