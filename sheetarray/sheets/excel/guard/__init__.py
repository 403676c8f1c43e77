"""The guard: an exact snapshot of every array in a very hidden sheet, and what follows from it.

`sheets.snapshot` makes text of a buffer and back, `guard_sheet` puts the texts into a sheet and reads them again,
`guarded` tells what a program has rounded in a workbook from what people have edited.
"""
