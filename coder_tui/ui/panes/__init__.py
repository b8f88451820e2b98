"""The panes next to the chat: changes, problems, todos, and the dock that holds them.

Enter at `dock.py`; `pane.py` is what they share.
"""
