"""Find files and text: ripgrep, or a search of our own if it is missing; ignore rules; the file index.

Enter at `search.py`; `file_index.py` serves completion.
"""
