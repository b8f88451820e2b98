"""What changed between two texts, as data: hunks to decide on and rows to draw."""
