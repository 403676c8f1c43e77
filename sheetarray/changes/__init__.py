"""Compares arrays with what they were: finds moved rows and changed elements, and merges several changed copies."""
