"""The guard: an exact snapshot of every array in a very hidden sheet, and what follows from it.

`snapshot` makes text of a buffer and back, `guard_sheet` puts the texts into a sheet and reads them again, `rounding`
and `comparing` tell what a program has rounded from what people have edited, `guarded` does so for a workbook.
"""
