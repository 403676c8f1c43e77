"""Reads arrays block by block: one pass over each sheet, so that memory does not grow with it."""
