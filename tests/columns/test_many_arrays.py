"""Very many small arrays in one sheet: each costs few calls, and Python does not look for cycles among them again and
again.
"""

from __future__ import annotations

import cProfile
import gc
import io
import threading

import numpy as np
import pytest
from children import GIVEN_UP_AFTER
from each_of import each_of

from sheetarray.columns.column_reader import ReadMode
from sheetarray.columns.pausing import MANY_OBJECTS, hold_pauses, iter_without_collection, without_collection
from sheetarray.columns.reading import _read_arrays, raise_error
from sheetarray.files import Source
from sheetarray.sheets.delimited import check_csv, read_csv, scan_csv, write_csv
from sheetarray.sheets.delimited.sheet import CsvSheet


def text_of(count: int, array: np.ndarray, orient: str = "columns") -> io.StringIO:
    """Return a text with many arrays one below another."""
    one = io.BytesIO()
    write_csv(one, {"name": array}, orient=orient)
    text = one.getvalue().decode()
    return io.StringIO("".join(text.replace("name", f"a{number}", 1) for number in range(count)))


def count_calls(operation, count: int, array: np.ndarray, orient: str = "columns") -> int:
    """Return how many functions are called."""
    text, profile = text_of(count, array, orient), cProfile.Profile()
    profile.enable()
    list(operation(text))
    profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


@each_of("operation, most", [(scan_csv, 100), (read_csv, 148), (check_csv, 180)])
def test_an_array_of_two_elements_costs_few_calls(operation, most):
    array = np.array([1.5, 2.5])
    count_calls(operation, 50, array)  # what is made once
    assert count_calls(operation, 1100, array) - count_calls(operation, 600, array) <= 500 * most


@each_of("operation, most", [(scan_csv, 30), (read_csv, 60)])
def test_cycles_are_seldom_looked_for_among_many_headers(operation, most):
    text = text_of(MANY_OBJECTS // 4, np.array([1.5, 2.5]))
    searches: list[int] = []
    gc.collect()
    gc.callbacks.append(lambda phase, info: searches.append(info["generation"]) if phase == "stop" else None)
    try:
        operation(text)
    finally:
        gc.callbacks.pop()
    assert len(searches) <= most
    assert gc.isenabled()


@each_of("objects", [MANY_OBJECTS - 1, MANY_OBJECTS, MANY_OBJECTS + 1])
def test_collection_is_paused_for_many_objects_alone(objects):
    with without_collection(objects):
        assert gc.isenabled() == (objects < MANY_OBJECTS)
    assert gc.isenabled()


def test_collection_goes_on_after_an_error():
    with pytest.raises(ZeroDivisionError), without_collection():
        raise ZeroDivisionError
    assert gc.isenabled()


@each_of("count", [MANY_OBJECTS - 1, MANY_OBJECTS, MANY_OBJECTS + 1])
def test_many_items_are_made_without_collection_and_handed_on_with_it(count):
    states = []
    items = iter_without_collection((states.append(gc.isenabled()) or item for item in range(count)), count)
    assert next(items) == 0
    assert gc.isenabled(), "whoever asks for no more leaves nothing off"
    assert list(items) == list(range(1, count))
    assert set(states) == {count < MANY_OBJECTS}
    assert gc.isenabled()


def test_an_abandoned_iteration_over_rows_leaves_collection_on():
    rows = text_of(MANY_OBJECTS, np.array([1.5, 2.5]), "rows").getvalue().encode()
    with Source(io.BytesIO(rows)) as source:
        sheet = CsvSheet(source, None, None, None, "escape")
        arrays = _read_arrays([sheet], None, ReadMode(False, "error", raise_error, lambda _: None))
        assert next(arrays)[0] == "a0"
        assert gc.isenabled()
        arrays.close()
    assert gc.isenabled()


def test_a_pause_is_held_until_all_is_done():
    with hold_pauses():
        with without_collection(MANY_OBJECTS - 1):
            pass
        assert gc.isenabled(), "there has been none"
        for _ in range(2):
            with hold_pauses(), without_collection():
                pass
            assert not gc.isenabled()
    assert gc.isenabled()
    with without_collection():
        pass
    assert gc.isenabled(), "it is held no longer"
    with pytest.raises(ZeroDivisionError), hold_pauses(), without_collection():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_what_was_off_before_stays_off():
    gc.disable()
    try:
        with without_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_pauses_of_threads_overlap():
    begun, may_end = threading.Event(), threading.Event()

    def pause() -> None:
        with without_collection():
            begun.set()
            may_end.wait(GIVEN_UP_AFTER)

    thread = threading.Thread(target=pause)
    with without_collection():
        thread.start()
        assert begun.wait(GIVEN_UP_AFTER)
    assert not gc.isenabled()  # the other one lasts
    may_end.set()
    thread.join()
    assert gc.isenabled()
