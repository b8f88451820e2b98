"""Decide what may run, what must be asked and what is refused.

Start at `decide.py`. `rules.py` matches rules, `policy.shell` analyzes command lines. Decisions are pure:
they change no file and ask no one.
"""
