"""A coding agent for the terminal."""
