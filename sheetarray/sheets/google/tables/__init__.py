"""Tables in worksheets whose record says which arrays they are: the record, where they stand, and their changes."""
