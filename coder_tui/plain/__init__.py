"""The append-only front end, for screen readers and for terminals without cursor movement.

Enter at `session.py`. It loads neither Textual nor Rich.
"""
