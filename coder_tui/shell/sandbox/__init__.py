"""Confine commands with bubblewrap, else with Landlock and seccomp, else not at all.

Start at `sandbox.py`. `confinement.py` decides what a command may reach. `launcher.py` is a separate program.
"""
