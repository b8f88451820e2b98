"""Keep copies of files before they change, and restore them.

Enter at `snapshots.py` for edits, `command_snapshots.py` for commands, `restore.py` to put them back,
`prune.py` to delete old copies.
"""
