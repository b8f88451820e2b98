"""Plain data that every layer shares: events, requests, messages, results. It imports nothing of ours."""
