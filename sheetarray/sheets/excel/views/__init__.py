"""Views in workbooks: the plan of a view, which `sheets.views` makes, becomes parts of a package.

`grid` makes the rows of a view, and `editable_grid` those of a view for editing, which holds the elements; `grids`
makes the XML of their cells. `worksheet` makes the sheet around the rows, `chart` the line chart in it, and `sheets`
puts all of them into the package. `record` tells views from other sheets when a workbook is read.
"""
