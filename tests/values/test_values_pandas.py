"""What pandas hands over and no transcript shows; tests/transcripts/handed_by_pandas.txt has the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from round_trips import Refused, check_handed


def undivided() -> Any:
    """Nullable floats with a NaN that is no NA."""
    column = pd.array([0.0, 1.0, 2.0], dtype="Float64")
    quotient = column / column
    quotient[2] = pd.NA
    return pd.Series(quotient)


def test_a_null_and_a_nan_among_nullable_floats_are_told_apart_or_refused(tmp_path: Path) -> None:
    column = undivided()
    if column.isna().all() or not np.isnan(column.to_numpy(dtype=float, na_value=7.0)).any():
        pytest.skip("this pandas makes NA of 0 / 0")
    check_handed(pd.DataFrame({"c": column}), Refused("c: has nulls and NaN", "fill either"), "csv", tmp_path)


def test_frames_of_classes_derived_from_pandas_are_frames(tmp_path: Path) -> None:
    class Derived(pd.DataFrame):
        @property
        def _constructor(self) -> Any:
            return Derived

    Derived.__module__ = "elsewhere"
    check_handed(Derived({"c": [1, 2]}), {"c": np.array([1, 2])}, "csv", tmp_path)
