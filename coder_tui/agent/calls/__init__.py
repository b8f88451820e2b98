"""Run tool calls: the one path from a model's call to `Tool.run`.

Enter at `runner.py`. Whether a call may run is decided by `policy`; `permissions.py` asks the user.
"""
