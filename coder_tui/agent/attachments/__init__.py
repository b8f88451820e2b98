"""Add to a message what it mentions: files, skills, MCP resources, the state of git, a custom command's text.

Enter at `files.py` for `@path`. Reading a file's bytes belongs to `workspace`.
"""
