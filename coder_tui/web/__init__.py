"""Requests to the web: addresses are checked and pinned, bodies bounded, pages made readable.

Enter at `web.py`.
"""
