"""Tools for tests of code that uses this package: the conformance suite for adapters."""
