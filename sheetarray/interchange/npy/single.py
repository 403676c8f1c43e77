"""`.npy`: one array in one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...adapters import EVERYTHING, Keeps, Progress, ignore_progress
from ...arrays import default_name, plain_arrays, select
from ...columns import ArrayInfo
from ...dtypes import Array
from ...errors import Finding, FormatError, LimitError, locating
from ...file_array import write_elements
from ...files import Readable, Source, Writable, replacing
from .header import header_for, parse

keeps_npy = Keeps(EVERYTHING - {"generic"}, names=False, several=False)


def read(file: Readable) -> Array:
    """Read the array of a `.npy` file; a large plain file is mapped, and no element of it copied.

    The array can be written to, which never changes the file. Nor does a file that is replaced, as by this package,
    change the array; only one that another program overwrites in place, or cuts short, does.

    Args:
        file: a path or an open file; gzip and Zstandard are recognised.

    Raises:
        FormatError: with the byte that is wrong; also for pickles and whatever the package has no dtype for.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import numpy as np
        >>> import io
        >>> file = io.BytesIO()
        >>> np.save(file, np.asfortranarray([[1, 2], [3, 4]]))
        >>> _ = file.seek(0)
        >>> read(file).flags.f_contiguous
        True
    """
    with Source(file) as source, locating(source=source.name):
        return _decode(source)


def write(file: Writable, array: Any) -> None:
    """Write an array as a `.npy` file, as `numpy.save` does.

    Args:
        file: a path, replaced as a whole (`.gz` and `.zst` compress), or a file opened for bytes.
        array: an ndarray of a dtype of the package (no objects) or of opaque bytes (`V5`), or what makes one.

    Raises:
        DTypeError: an array of anything else; says what to do instead.
        OSError: the system refuses; the old file is whole.

    Example:
        >>> import numpy as np
        >>> import io
        >>> file = io.BytesIO()
        >>> write(file, np.array([1.5, 2.5]))
        >>> _ = file.seek(0)
        >>> np.load(file)
        array([1.5, 2.5])
    """
    write_npy(file, {"array": array})


def write_npy(target: Writable, arrays: Any, *, progress: Progress | None = None) -> None:
    """Write one array as a `.npy` file; its name is not stored.

    Args:
        target: a path, replaced as a whole (`.gz` and `.zst` compress), or a file opened for bytes.
        arrays: a mapping of one name, one array, or a pandas or xarray object that holds one.
        progress: called with the elements written and the elements in all.

    Raises:
        DTypeError: an array that the package has no dtype for, or of objects.
        LimitError: several arrays.
        OSError: the system refuses; the old file is whole.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> write_npy(file, {"t": np.array([1.5, 2.5])})
        >>> np.load(io.BytesIO(file.getvalue()))
        array([1.5, 2.5])
    """
    plain = plain_arrays(arrays)
    if len(plain) > 1:
        raise LimitError(f"a .npy file holds one array, not {len(plain)}: write .npz")
    (array,) = plain.values()
    report = progress or ignore_progress
    report(0, array.size)
    with replacing(target, binary=True) as sink:
        sink.write(header_for(array))
        for done in write_elements(array, sink):
            report(done, array.size)
    report(array.size, array.size)


def read_npy(source: Readable, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Read a `.npy` file.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.
        names: None, or the array's name alone.

    Returns:
        The array, by the file's own name without suffixes; it can be written to, which never changes the file.

    Raises:
        FormatError: with the byte that is wrong.
        NotFoundError: another name is asked for.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> np.save(file, np.array([1.5, 2.5]))
        >>> read_npy(io.BytesIO(file.getvalue()))
        {'array': array([1.5, 2.5])}
    """
    with Source(source) as opened, locating(source=opened.name):
        sources = select({default_name(opened.name): opened}, names)
        return {name: _decode(file) for name, file in sources.items()}


def scan_npy(source: Readable) -> dict[str, ArrayInfo]:
    """Return the info of the array from its header alone; the location is that of the first byte of the data.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.

    Raises:
        FormatError: no `.npy` file, or a broken header.
        OSError: no such file, or it cannot be read.

    Example:
        >>> import io
        >>> import numpy as np
        >>> file = io.BytesIO()
        >>> np.save(file, np.zeros((2, 3)))
        >>> scan_npy(io.BytesIO(file.getvalue()))["array"].shape
        (2, 3)
    """
    with Source(source) as opened, locating(source=opened.name):
        return {default_name(opened.name): parse(opened.prefix).to_info()}


def check_npy(source: Readable) -> Iterator[Finding]:
    """Yield the finding that says why `read` refuses the file; nothing for an intact one.

    Args:
        source: a path or an open file; gzip and Zstandard are recognised.

    Raises:
        OSError: no such file, or it cannot be read; never for its content.

    Example:
        >>> import io
        >>> [finding.location for finding in check_npy(io.BytesIO(b"PK"))]
        ['byte 0']
    """
    findings = []
    try:
        with Source(source) as opened, locating(array=default_name(opened.name)):
            _decode(opened)
    except FormatError as error:
        findings.append(Finding.from_error(error))
    yield from findings


def _decode(source: Source) -> Array:
    stored, content = parse(source.prefix), source.own()
    array = stored.to_array(content)
    if len(content) > stored.end_position:
        raise FormatError(
            f"{len(content) - stored.end_position} bytes after the array",
            location=f"byte {stored.end_position}",
            hint="several arrays in one .npy file: read them one after another with numpy.load",
        )
    return array
