"""The styles of cells: in a workbook of ours, and in another program's."""
