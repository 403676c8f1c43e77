"""The fingerprint of an array: made when it is written, compared with the elements of today.

Each element has `codes`: one exact, one of fifteen digits, one of sixteen. `sums` adds them up over groups of elements,
with and without weights, and a `record` of these sums is stored. Later, `row_changes` finds rows that were added or
deleted, and `verdict` says what has happened.

The mathematics is explained in docs/fingerprint.md.
"""
