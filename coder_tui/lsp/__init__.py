"""Language servers: started when needed. A silent server never counts as "no problems".

Enter at `pool.py`. pygls runs in a process of its own, `host.py`; `client.py` alone imports it.
"""
