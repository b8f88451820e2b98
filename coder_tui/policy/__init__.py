"""Pure decisions: what may run, what must be asked, what never.

Enter at `decide.py`. `rules.py` reads rules, `policy.shell` reads command lines. It touches no file and
asks nobody.
"""
