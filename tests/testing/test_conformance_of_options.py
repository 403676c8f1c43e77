"""The suite of adapters, as an option or a compression of a format passes it."""

from __future__ import annotations

from sheetarray.testing.conformance import Conformance
from sheetarray.testing.conformance_hooks import OF_THE_FORMAT


class _Option(Conformance):
    every_case = False

    def test_paths_may_be_text(self, place: object) -> None:
        """A test of its own stays."""


class _OptionOfAnOption(_Option):
    pass


class _Format(_Option):
    every_case = True


def collected(suite: type[Conformance]) -> set[str]:
    return {name for name in dir(suite) if name.startswith("test_") and getattr(suite, name) is not None}


def test_an_option_leaves_out_what_no_option_can_change() -> None:
    assert collected(Conformance) > set(OF_THE_FORMAT)
    assert collected(_Option) == collected(Conformance) - set(OF_THE_FORMAT) | {"test_paths_may_be_text"}
    assert collected(_OptionOfAnOption) == collected(Conformance) - set(OF_THE_FORMAT)


def test_a_format_below_an_option_passes_the_whole_suite() -> None:
    assert collected(_Format) == collected(Conformance)
    assert _Format.test_no_name_selects_nothing is Conformance.test_no_name_selects_nothing
