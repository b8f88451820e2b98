"""Run commands: in process groups of their own, with limits, in the foreground or as jobs.

Enter at `session_shell.py`. What a command may reach is decided by `shell.sandbox`.
"""
