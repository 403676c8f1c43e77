"""The whole test of the adapter: the suite that every adapter of sheetarray passes."""

from sheetarray.testing.conformance import Conformance


class TestJsonl(Conformance):
    suffix, format = ".jsonl", "jsonl"
    holds_too = frozenset({"lone surrogates"})  # which most formats refuse; JSON escapes any character
