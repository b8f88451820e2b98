"""Run the user's hooks at calls and turns, and apply their answers.

Enter at `session_hooks.py`; `runner.py` runs a hook and reads its answer. The settings are in `config`.
"""
