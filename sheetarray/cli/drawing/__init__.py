"""Pictures of an array in a terminal, and the statistics that they are drawn by."""
