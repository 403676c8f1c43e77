"""Views: sheets that show one slice of an array as a table, by formulas into the array's column.

`description` says which arrays get one; `axes` and `geometry` which dimension goes where, with which labels; `choosers`
the cells in which people choose; `formulas` what stands where, in any spreadsheet. Adapters make cells of it.
"""
