"""What changed between two texts, as data: hunks to decide on and rows to draw.

Enter at `compare.py`. Drawing is in `ui.diff`, finding an edit's place in `tools.editing`.
"""
