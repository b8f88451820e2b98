"""Editors: the core over the Agent Client Protocol, an editor's pipes in place of a screen.

Enter at `agent.py`. Sessions are opened by `bootstrap`.
"""
