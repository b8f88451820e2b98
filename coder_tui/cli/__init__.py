"""The command line: one module per command.

Enter at `main.py`, which imports only the command that is run. Sessions are opened by `bootstrap`.
"""
