"""The state of a spreadsheet without its cells, and the notes and marks of programs that write to it."""
