"""Reading a workbook piece by piece."""
