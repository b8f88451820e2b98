"""MCP servers, which offer tools, prompts and resources.

Enter at `pool.py`. The SDK runs in a process of its own, `host.py`; `client.py` alone imports it.
"""
