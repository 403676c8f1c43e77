"""Tools for tests of code that uses this package: the conformance suite, and an emulator of Google Sheets."""
