"""Reads a command line twice, and tells from its words what it would do."""
