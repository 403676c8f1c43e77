"""Views: sheets that show one slice of an array as a table, by formulas into the array's column.

`description` says which arrays get one; `geometry` which dimension goes where; `grid` makes the rows, `worksheet` the
sheet around them, `chart` the line chart; `record` tells a view from other sheets when a workbook is read.
"""
