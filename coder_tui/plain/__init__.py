"""The append-only front end, for terminals without cursor movement and for screen readers.

Enter at `session.py`. It loads neither Textual nor Rich.
"""
