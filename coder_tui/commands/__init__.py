"""Slash commands as typed intents: no screen, no terminal.

Enter at `registry.py`; `builtin.py` lists them. Front ends carry an intent out.
"""
