"""Servers that bring tools, prompts and resources by the Model Context Protocol."""
