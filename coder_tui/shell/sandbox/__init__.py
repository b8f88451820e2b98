"""Confine a command: bubblewrap, or Landlock and seccomp, or nothing where neither works.

Enter at `sandbox.py`; `confinement.py` says what a command may reach. `launcher.py` is a program of its own.
"""
