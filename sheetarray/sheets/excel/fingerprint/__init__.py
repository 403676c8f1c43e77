"""The fingerprint of an array: made when it is written, compared with the elements of today.

An element has two `codes`, one exact and one of fifteen digits (`decimal15`); `sums` add them up block by block, in
order and out of order; a `record` of them is stored. `edits` finds what happened in between, `verdict` says it.

The mathematics is explained in docs/fingerprint.md.
"""
