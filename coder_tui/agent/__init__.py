"""The orchestrator: turns, tools, requests, limits."""
