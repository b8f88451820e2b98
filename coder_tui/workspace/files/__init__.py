"""Read and write files exactly: confined to the workspace, never half written, encodings kept.

Enter at `text.py` to read and at `save.py` to write; `confine.py` decides what lies inside.
"""
