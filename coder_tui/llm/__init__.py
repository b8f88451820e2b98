"""Models behind one typed stream.

Enter at `client.py` for the types and `host_client.py` for requests. litellm runs in its own process,
`host.py`.
"""
