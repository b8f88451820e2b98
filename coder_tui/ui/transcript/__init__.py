"""The conversation as it scrolls: history, the live end, running calls, searching, the pager.

Enter at `transcript.py`. How an entry looks is decided by `ui.draw`.
"""
