"""The main screen: transcript, prompt, status, and the actions of keys and slash commands.

Enter at `screen.py`. `router.py` brings the session's events to the widgets, `sender.py` sends messages.
"""
