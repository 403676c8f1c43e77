"""How each package writes arrays to a file and reads them back: one `Contender` each, the plain call of its manual.

Packages are imported within the calls, so that a process that measures one of them loads no other. A `write` takes
a path and arrays by name; a `read` takes a path and gives whatever the package gives; `arrays` makes ndarrays of
that, outside of the clock. Making the package's own table of the arrays (without a copy, where it can) is inside the
clock, since a person with arrays has to do it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

Verb = Literal["write", "read"]
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
        verbs: what is timed; one that only reads is given a file that a peer could have written.
        leaves_out: kinds of dtype (NumPy's letters) that it cannot write; such columns are left out, and said.
        ours: whether this is sheetarray; others are what it is compared with.
        often: how many times it does everything, if once takes less than a millisecond.
    """

    label: str
    write: Callable[[Path, Arrays], Any]
    read: Callable[[Path], Any]
    arrays: Callable[[Any], Arrays] = _as_they_are
    suffix: str = ".csv"
    verbs: tuple[Verb, ...] = ("write", "read")
    leaves_out: str = ""
    ours: bool = False
    often: int = 1

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


# Peers, like for like: what they write is flushed and renamed, what they read ends at ndarrays -------------------


def replace_file(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file as sheetarray does: flushed to the disk, and put in the place of the old one."""
    temporary = path.with_suffix(".part")
    with temporary.open("wb") as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _write_polars(path: Path, arrays: Arrays) -> None:
    import polars

    replace_file(path, polars.DataFrame(dict(arrays)).write_csv)


def _read_polars(path: Path) -> Arrays:
    import polars

    return {
        name: column.to_numpy().astype("U") if column.dtype == polars.String else column.to_numpy()
        for name, column in polars.read_csv(path).to_dict().items()
    }


def _read_polars_dates(path: Path) -> Arrays:
    """Read text, and make dates of it with a format: four times as fast as `try_parse_dates` or a schema."""
    import polars

    texts = polars.read_csv(path).to_dict()
    return {
        name: column.str.to_datetime("%Y-%m-%dT%H:%M:%S%.3f", time_unit="ms").to_numpy()
        for name, column in texts.items()
    }


def _write_polars_days(path: Path, arrays: Arrays) -> None:
    import polars

    frame = polars.DataFrame({name: array.astype("datetime64[ms]") for name, array in arrays.items()})
    replace_file(path, frame.with_columns(polars.all().cast(polars.Date)).write_csv)


def _read_polars_days(path: Path) -> Arrays:
    """Read days under a schema, which is faster than to look for them."""
    import polars

    return {
        name: column.to_numpy() for name, column in polars.read_csv(path, schema={"x0": polars.Date}).to_dict().items()
    }


def _read_polars_mixed(path: Path) -> Arrays:
    import polars

    dates = {"datetime64": polars.col("datetime64").str.to_datetime("%Y-%m-%dT%H:%M:%S%.3f", time_unit="ms")}
    frame = polars.read_csv(path).with_columns(**dates)
    return {
        name: column.to_numpy().astype("U") if column.dtype == polars.String else column.to_numpy()
        for name, column in frame.to_dict().items()
    }


def _write_pandas(path: Path, arrays: Arrays) -> None:
    import pandas

    frame = pandas.DataFrame(dict(arrays), copy=False)
    replace_file(path, lambda file: frame.to_csv(file, index=False))


def _read_pandas(path: Path) -> Arrays:
    import pandas

    frame = pandas.read_csv(path)
    if len(frame.columns) > 1000:  # column by column it takes longer
        return dict(zip(frame.columns, frame.to_numpy().T, strict=True))
    return {name: column.to_numpy() for name, column in frame.items()}


def _write_numpy(path: Path, arrays: Arrays) -> None:
    table, names = np.column_stack(list(arrays.values())), ",".join(arrays)
    replace_file(path, lambda file: np.savetxt(file, table, delimiter=",", header=names))


def _read_numpy(path: Path) -> Arrays:
    return {"": np.loadtxt(path, delimiter=",", ndmin=2)}


def _arrays_of_numpy(table: Arrays) -> Arrays:
    return {str(place): column for place, column in enumerate(table[""].T)}  # savetxt keeps no names: by place


SHEETARRAY = Contender("sheetarray", _write_sheetarray, _read_sheetarray, ours=True)
POLARS = Contender("polars", _write_polars, _read_polars, leaves_out="c")
POLARS_DATES = replace(POLARS, read=_read_polars_dates)
POLARS_DAYS = replace(POLARS, write=_write_polars_days, read=_read_polars_days)
POLARS_MIXED = replace(POLARS, read=_read_polars_mixed)
PANDAS = Contender("pandas", _write_pandas, _read_pandas)
NUMPY = Contender("numpy", _write_numpy, _read_numpy, _arrays_of_numpy, leaves_out="bciuMmUSO")


# Binary formats: reading ends when every element has been summed, since some only map the file ------------------


def _summed(arrays: Arrays) -> Arrays:
    for array in arrays.values():
        array.sum()
    return arrays


def _read_sheetarray_summed(path: Path) -> Arrays:
    return _summed(_read_sheetarray(path))


def _write_npy(path: Path, arrays: Arrays) -> None:
    (array,) = arrays.values()
    replace_file(path, lambda file: np.save(file, array))


def _read_npy(path: Path) -> Arrays:
    return _summed({"x0": np.load(path)})


def _write_npz(path: Path, arrays: Arrays) -> None:
    replace_file(path, lambda file: np.savez(file, **arrays))


def _read_npz(path: Path) -> Arrays:
    with np.load(path) as archive:
        return _summed({name: archive[name] for name in archive})


def _write_fastavro(path: Path, arrays: Arrays) -> None:
    from fastavro import writer

    from sheetarray.interchange.avro import SCHEMA

    (array,) = arrays.values()
    record = {"shape": list(array.shape), "typestr": array.dtype.str, "data": array.tobytes(), "version": 3}
    replace_file(path, lambda file: writer(file, SCHEMA, [record]))


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
NUMPY_NPZ = Contender("numpy .npz", _write_npz, _read_npz, suffix=".npz")
FASTAVRO = Contender("fastavro", _write_fastavro, _read_fastavro, suffix=".avro")
