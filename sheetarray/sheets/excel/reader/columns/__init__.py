"""The cells of the columns of a sheet, converted to elements: at once where all are plain, or one by one."""
