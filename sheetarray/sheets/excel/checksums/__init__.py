"""Checksums of an array: made when it is written, compared with the elements of today.

`hashes` makes a number of each element, `record` adds them up and stores the sums, `verdict` compares an array with its
checksums, and `stored` does so for the arrays of a workbook. docs/checksums.md explains what they tell.
"""
