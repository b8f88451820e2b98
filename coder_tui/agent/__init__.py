"""The orchestrator: sessions, turns, tool calls, requests to the user, undo.

Enter at `session.py`, which front ends call and which publishes events. It knows no screen and no
provider; building one is left to `bootstrap`.
"""
