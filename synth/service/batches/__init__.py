"""Batches: taken in, item by item, and what came of each. They are worked off like every list, by `making.py`."""
