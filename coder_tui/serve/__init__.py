"""The program in a browser: a local web server, a gate with a token, one process per tab.

Enter at `server.py`. Each tab runs the ordinary full-screen program.
"""
