"""What stands around the rows of sheets: the parts of a workbook."""
