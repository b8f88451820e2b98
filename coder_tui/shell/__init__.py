"""Run commands in their own process groups, with limits, in the foreground or as background jobs.

Start at `session_shell.py`. `shell.sandbox` limits what a command may reach; `shell.hosts` runs our own
processes.
"""
