"""Analyze a command line: which programs it runs, which files it reads and writes, network, secrets.

Start at `analysis.py`. `programs/` knows the single programs.
"""
