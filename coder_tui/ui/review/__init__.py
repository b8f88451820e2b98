"""Review a turn's changes: accept or refuse them hunk by hunk.

`model.py` is the state without a screen, `screen.py` and `page.py` show it.
"""
