"""Requests to the web: addresses checked and pinned, bodies bounded, pages made readable.

Enter at `web.py`.
"""
