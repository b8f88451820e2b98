"""Screens that let the user pick from a list: sessions, models, files, servers, jobs, help.

Enter at `picker.py`, which the others build on.
"""
