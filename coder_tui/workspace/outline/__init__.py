"""What files define, and which of them matter: parsed and ranked in a separate process.

Enter at `client.py`.
"""
