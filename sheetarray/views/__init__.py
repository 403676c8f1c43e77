"""Views: sheets that show one slice of an array as a table, by formulas into the array's column.

`description` says which arrays get one; `axes` and `geometry` which dimension goes where, with which labels; `choosers`
has the cells in which people choose; `formulas` the content of every cell, the same for all spreadsheets. Adapters
write these cells.
"""
