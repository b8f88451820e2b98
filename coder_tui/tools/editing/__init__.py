"""How a model's edits find their place in a file."""
