"""Views in a spreadsheet: worksheets of formulas that show an array slice by slice with its labels, for people."""
