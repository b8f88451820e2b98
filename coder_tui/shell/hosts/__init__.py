"""Child processes that speak lines of JSON with us: starting, restarting, logging, ending.

`link.py` is our side, `side.py` the child's; `supervisor.py` starts them again when they are lost.
What is said over it belongs to `llm`, `lsp` and `mcp`.
"""
