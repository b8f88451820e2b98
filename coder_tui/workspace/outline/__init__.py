"""What files define, and which of them matter: parsed and ranked in a process of its own.

Enter at `client.py`.
"""
