"""What became of arrays: which row is which, which elements differ, and several changed copies merged."""
