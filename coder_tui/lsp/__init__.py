"""Language servers: started on need, asked, and never believed to be clean when they are silent.

Enter at `pool.py`. pygls runs in a process of its own, `host.py`; `client.py` alone imports it.
"""
