"""Read a command line and report what it would do: programs, files read and written, network, secrets.

Enter at `analyse.py`; `programs/` knows single programs.
"""
