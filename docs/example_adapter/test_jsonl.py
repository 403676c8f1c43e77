"""The whole test of the adapter: the suites that every adapter of sheetarray passes."""

from sheetarray.testing.conformance import Conformance, HostileConformance


class TestJsonl(Conformance):
    suffix, format = ".jsonl", "jsonl"
    holds_too = frozenset({"lone surrogates"})  # which most formats refuse; JSON escapes any character


class TestHostileJsonl(HostileConformance):
    suffix, format = ".jsonl", "jsonl"
    reads_cut = True  # a file of fewer lines is one of fewer arrays
