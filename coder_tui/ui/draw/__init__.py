"""Turn entries of the transcript into strips: Markdown, code, tables, calls and their blocks.

Enter at `entries.py`. Nothing here is a widget but `widget.py`; untrusted text passes `safe_text`.
"""
