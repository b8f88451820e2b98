"""Undo and redo turns, review changes hunk by hunk, replay a stored session.

Enter at `undo.py`. Copies of files belong to `workspace.undo`, stored events to `storage`.
"""
