"""How each package writes arrays to a file and reads them back: one `Contender` each, the plain call of its manual.

Packages are imported within the calls, so that a process that measures one of them loads no other. A `write` takes
a path and arrays by name; a `read` takes a path and gives whatever the package gives; `arrays` makes ndarrays of
that, outside of the clock. Making the package's own table of the arrays (without a copy, where it can) is inside the
clock, since a person with arrays has to do it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Arrays = Mapping[str, np.ndarray[Any, Any]]


def _as_they_are(result: Any) -> Arrays:
    return result


@dataclass(frozen=True)
class Contender:
    """One way to write arrays and to read them.

    Attributes:
        label: what the table calls it.
        write: path, arrays -> the file.
        read: path -> anything.
        arrays: what `read` gave -> ndarrays by name, for the comparison of bits.
        suffix: of the file.
        leaves_out: kinds of dtype (NumPy's letters) that it cannot write; such columns are left out, and said.
        most_cells: more are only tried with --slow.
        ours: whether this is sheetarray; others are what it is compared with.
    """

    label: str
    write: Callable[[Path, Arrays], Any]
    read: Callable[[Path], Any]
    arrays: Callable[[Any], Arrays] = _as_they_are
    suffix: str = ".csv"
    leaves_out: str = ""
    most_cells: int | None = None
    ours: bool = False

    def takes(self, arrays: Arrays) -> Arrays:
        """The arrays that it can write."""
        return {name: array for name, array in arrays.items() if array.dtype.kind not in self.leaves_out}


# sheetarray --------------------------------------------------------------------------------------------------


def _write_sheetarray(path: Path, arrays: Arrays) -> None:
    import sheetarray

    sheetarray.write(path, arrays)


def _read_sheetarray(path: Path) -> Arrays:
    import sheetarray

    return sheetarray.read(path)


# polars ------------------------------------------------------------------------------------------------------


def _write_polars(path: Path, arrays: Arrays) -> None:
    import polars

    polars.DataFrame(dict(arrays)).write_csv(path)


def _read_polars(path: Path) -> Any:
    import polars

    return polars.read_csv(path, try_parse_dates=True)


def _arrays_of_polars(frame: Any) -> Arrays:
    return {name: frame[name].to_numpy() for name in frame.columns}


# pandas ------------------------------------------------------------------------------------------------------


def _write_pandas(path: Path, arrays: Arrays) -> None:
    import pandas

    pandas.DataFrame(dict(arrays), copy=False).to_csv(path, index=False)


def _read_pandas(path: Path) -> Any:
    import pandas

    return pandas.read_csv(path)


def _arrays_of_pandas(frame: Any) -> Arrays:
    return {name: frame[name].to_numpy() for name in frame.columns}


# numpy -------------------------------------------------------------------------------------------------------


def _write_numpy(path: Path, arrays: Arrays) -> None:
    np.savetxt(path, np.column_stack(list(arrays.values())), delimiter=",", header=",".join(arrays))


def _read_numpy(path: Path) -> Arrays:
    return {"": np.loadtxt(path, delimiter=",", ndmin=2)}


def _arrays_of_numpy(table: Arrays) -> Arrays:
    return {str(place): column for place, column in enumerate(table[""].T)}  # savetxt keeps no names: by place


SHEETARRAY = Contender("sheetarray", _write_sheetarray, _read_sheetarray, ours=True)
POLARS = Contender("polars", _write_polars, _read_polars, _arrays_of_polars, leaves_out="c")
PANDAS = Contender("pandas", _write_pandas, _read_pandas, _arrays_of_pandas)
NUMPY = Contender("numpy", _write_numpy, _read_numpy, _arrays_of_numpy, leaves_out="bciuMmUSO", most_cells=2_000_000)


# Binary formats: reading ends when every element has been summed, since some only map the file ------------------


def _summed(arrays: Arrays) -> Arrays:
    for array in arrays.values():
        array.sum()
    return arrays


def _read_sheetarray_summed(path: Path) -> Arrays:
    return _summed(_read_sheetarray(path))


def _write_npy(path: Path, arrays: Arrays) -> None:
    (array,) = arrays.values()
    np.save(path, array)


def _read_npy(path: Path) -> Arrays:
    return _summed({"x0": np.load(path)})


def _write_fastavro(path: Path, arrays: Arrays) -> None:
    from fastavro import writer

    from sheetarray.interchange.avro import SCHEMA

    (array,) = arrays.values()
    record = {"shape": list(array.shape), "typestr": array.dtype.str, "data": array.tobytes(), "version": 3}
    with path.open("wb") as file:
        writer(file, SCHEMA, [record])


def _read_fastavro(path: Path) -> Arrays:
    from fastavro import reader

    with path.open("rb") as file:
        (record,) = reader(file)
    return _summed({"x0": np.frombuffer(record["data"], dtype=record["typestr"]).reshape(record["shape"])})


def _by_place(arrays: Arrays) -> Arrays:
    return {f"x{place}": array for place, array in enumerate(arrays.values())}  # .ra and .npy store no name


def stored(suffix: str) -> Contender:
    """Return sheetarray with files of a suffix; reading sums the elements."""
    label = f"sheetarray {suffix}"
    return Contender(label, _write_sheetarray, _read_sheetarray_summed, _by_place, suffix=suffix, ours=True)


RA, AVRO, NPY, MSGPACK = map(stored, (".ra", ".avro", ".npy", ".msgpack"))
NUMPY_NPY = Contender("numpy .npy", _write_npy, _read_npy, suffix=".npy")
FASTAVRO = Contender("fastavro", _write_fastavro, _read_fastavro, suffix=".avro")
