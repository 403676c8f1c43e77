"""Views in workbooks: what the room of `views` says of each, as the parts of a package.

`grid` makes the rows, `worksheet` the sheet around them, `chart` the line chart, `editable` a view that holds the
elements; `record` tells a view from other sheets when a workbook is read.
"""
