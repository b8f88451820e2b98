"""Skills and custom commands: found in folders, offered by name, read when needed.

Enter at `session_skills.py`.
"""
