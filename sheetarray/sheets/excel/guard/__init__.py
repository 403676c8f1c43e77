"""The guard: an exact snapshot of every array in a very hidden sheet, and what follows from it.

`sheets.snapshot` makes text of a buffer and back, `guard_sheet` puts the texts into a sheet and reads them again,
`snapshots` are the evidence of what the arrays were; `written` tells what a program has rounded since from what people
have edited. `automatic` decides whether a write keeps a guard.
"""
