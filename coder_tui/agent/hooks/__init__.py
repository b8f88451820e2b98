"""Run the user's hooks at calls and turns, and apply their answers.

Enter at `runner.py`; `protocol.py` reads a hook's answer. The settings are in `config`.
"""
