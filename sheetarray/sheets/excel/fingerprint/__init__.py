"""The fingerprint of an array: made when it is written, compared with the elements of today.

An element has two `codes`, one exact and one of fifteen digits (`decimal15`). `maker` adds them up over groups of
elements (`sums`), with and without weights, and a `record` of these sums is stored. Later, `edits` finds what has
happened in between, and `verdict` says it.

The mathematics is explained in docs/fingerprint.md.
"""
