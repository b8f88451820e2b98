"""Child processes that speak lines of JSON with us: starting, restarting, logging, ending.

`link.py` is our side, `side.py` the child's. What is said over it belongs to `llm`, `lsp` and `mcp`.
"""
