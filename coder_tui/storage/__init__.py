"""The SQLite database of sessions.

Enter at `store.py`. Events are stored before they are shown; copies of files are in `blobs.py`.
"""
