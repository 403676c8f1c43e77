"""The functions that a schema may name: one module for the layouts of each kind, and the table of their names."""
