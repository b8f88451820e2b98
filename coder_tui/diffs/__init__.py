"""What changed between two texts, as data: hunks to decide on and rows to draw.

Enter at `compare.py`. Drawing is left to `ui.diff`, finding an edit's place to `tools.editing`.
"""
