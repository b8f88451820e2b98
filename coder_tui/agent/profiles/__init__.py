"""Agents and sub-agents as profiles: prompt, model, tools and rules, built in or read from files.

Enter at `profiles.py`; `switch.py` changes the profile of a running session.
"""
