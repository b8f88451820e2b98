"""The user's files: confined, exact, never half written.

See `files`, `search`, `git`, `undo` and `outline`.
"""
