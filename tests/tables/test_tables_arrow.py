"""`read_columns(as_="arrow")` is taken by polars, pyarrow and DuckDB as it is; their streams are written once read."""

from __future__ import annotations

import ast
import importlib.util
import io
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import sheetarray as sa
from sheetarray.tables.arrow import to_arrow

TABLE = "id,day,t,n,ok\n007,2024-02-29,0.1,1,true\n008,,,2,false\n"


def table(text=TABLE, **options):
    return sa.read_columns(io.StringIO(text), format="csv", as_="arrow", **options)


def written(value, **options):
    file = io.BytesIO()
    sa.write(file, value, format="csv", **options)
    return sa.read(io.BytesIO(file.getvalue()), format="csv")


@pytest.fixture
def duckdb():
    """A function that runs code with DuckDB in a process of its own, as its modules complain when one ends."""
    if importlib.util.find_spec("duckdb") is None:
        pytest.skip("DuckDB is not installed")

    def run(code):
        done = subprocess.run(
            [sys.executable, "-c", f"import duckdb\n{code}"], capture_output=True, text=True, check=True
        )
        return ast.literal_eval(done.stdout)

    return run


def test_polars_pyarrow_and_duckdb_see_the_same_table(duckdb, tmp_path):
    pa = pytest.importorskip("pyarrow")
    columns = table()
    assert columns.dtypes == [pl.String, pl.Date, pl.Float64, pl.Int64, pl.Boolean]
    taken = pa.table(columns)
    assert taken["id"].to_pylist() == ["007", "008"]
    assert taken["day"].null_count == 1
    assert np.isnan(taken["t"].to_pylist()[1])
    assert pl.DataFrame(taken).equals(columns)
    (tmp_path / "t.csv").write_text(TABLE)
    code = "import sheetarray as sa; columns = sa.read_columns({!r}, as_='arrow')"
    query = "print(duckdb.sql('select id, n from columns where ok').fetchall())"
    assert duckdb(f"{code.format(str(tmp_path / 't.csv'))}\n{query}") == [("007", 1)]


def test_what_leaves_is_not_copied():
    pa = pytest.importorskip("pyarrow")
    columns = table()
    taken, again = pa.table(columns), pa.table(columns)
    assert taken["n"].chunk(0).buffers()[1].address == again["n"].chunk(0).buffers()[1].address


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float16", "float32", "bool"])
def test_dtypes_are_kept(dtype):
    array = np.array([0, 1, 1], dtype)
    assert to_arrow({"x": array})["x"].to_numpy().dtype == array.dtype


@pytest.mark.parametrize("kind", ["datetime64", "timedelta64"])
@pytest.mark.parametrize("unit", ["W", "D", "h", "m", "s", "ms", "us", "ns"])
def test_times_are_exact_or_refused(kind, unit):
    array = np.array([0, 7, "NaT", -1], f"{kind}[{unit}]")
    column = to_arrow({"x": array})["x"]
    assert column.null_count() == 1
    assert np.array_equal(column.to_numpy().astype(array.dtype), array, equal_nan=True)
    last = np.array([2**62], f"{kind}[{unit}]")
    if unit in ("ms", "us", "ns"):
        assert to_arrow({"x": last})["x"].to_physical().item() == 2**62
    else:
        with pytest.raises(sa.DTypeError, match=r"^x: "):
            to_arrow({"x": last})


def test_objects_of_one_kind_are_columns_with_nulls():
    for values, dtype in (
        ([True, None], pl.Boolean),
        ([2**63, None], pl.UInt64),
        ([-1, None], pl.Int64),
        (["a", None], pl.String),
        ([None, None], pl.Null),
    ):
        column = to_arrow({"x": np.array(values, object)})["x"]
        assert (column.dtype, column.to_list()) == (dtype, values)
    for values in (["a", 1], [2**64], [2**63, -1], [True, 1]):
        with pytest.raises(sa.DTypeError, match=r"^x: "):
            to_arrow({"x": np.array(values, object)})


def test_columns_of_several_dimensions_and_of_other_lengths():
    columns = table("t\n1.5\n2.5\n3.5\n4.5\n", shape=(2, 2))
    assert columns["t"].to_numpy().tolist() == [[1.5, 2.5], [3.5, 4.5]]
    assert table("t\na\nb\n", shape=(1, 2))["t"].to_list() == [["a", "b"]]
    with pytest.raises(sa.LimitError, match="'u' has 4 rows"):
        table("t,u\n1,1\n2,2\n3,3\n4,4\n", shape={"t": (2, 2)})
    with pytest.raises(sa.DTypeError, match=r"^t: Arrow has no complex"):
        table("t\n1.5\n", dtype="complex128")
    with pytest.raises(ValueError, match="as_ is"):
        sa.read_columns(io.StringIO(TABLE), format="csv", as_="frame")


class Once:
    """An Arrow stream that can be read once."""

    def __init__(self, value):
        self.stream = value.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema=None):
        assert self.stream is not None, "the stream has been read"
        stream, self.stream = self.stream, None
        return stream


def test_a_stream_is_read_once_by_every_verb(tmp_path):
    frame = pl.DataFrame({"t": [0.1, 0.2], "s": ["a", "b"]})
    assert written(Once(frame))["t"].tolist() == [0.1, 0.2]
    assert written({"t": Once(frame["t"])})["t"].tolist() == [0.1, 0.2]
    sa.write(tmp_path / "t.ra", {"t": Once(frame["t"])})
    assert sa.read(tmp_path / "t.ra")["t"].tolist() == [0.1, 0.2]
    for target in (tmp_path / "t.csv", io.BytesIO()):
        sa.write_table(target, Once(frame), format="csv")
    assert sa.read_columns(tmp_path / "t.csv")["s"].tolist() == ["a", "b"]
    assert target.getvalue() == (tmp_path / "t.csv").read_bytes()


def test_a_relation_of_duckdb_is_written_and_refusals_name_the_column(duckdb, tmp_path):
    code = f"""
import sheetarray as sa
path = {str(tmp_path / "t.csv")!r}
sa.write(path, duckdb.sql("select 1::utinyint as n, 0.1::double as t, 'x' as s, date '2024-02-29' as d"))
try:
    sa.write(path, duckdb.sql("select {{'a': 1}} as c"))
except sa.DTypeError as error:
    print(repr(str(error)))
"""
    assert "c: " in duckdb(code)
    arrays = sa.read(tmp_path / "t.csv")
    assert [str(array.dtype) for array in arrays.values()] == ["uint8", "float64", "<U1", "datetime64[D]"]
    assert arrays["t"].tolist() == [0.1]
