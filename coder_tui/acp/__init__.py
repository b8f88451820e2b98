"""The editor front end: serves sessions over the Agent Client Protocol, on standard input and output.

Enter at `agent.py`. Sessions are opened by `bootstrap`.
"""
