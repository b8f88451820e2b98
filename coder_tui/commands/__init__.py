"""Slash commands as typed intents: no screen, no terminal.

Enter at `base.py`; `builtin.py` lists them. Front ends carry an intent out.
"""
