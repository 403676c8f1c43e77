"""Views: sheets that show one slice of an array as a table, by formulas into the array's column.

`description` says which arrays get one; `geometry` which dimension goes where, with which labels; `formulas` what every
cell holds, the same for all spreadsheets; `typed_over` which formulas people have typed over. Adapters write the cells.
"""
