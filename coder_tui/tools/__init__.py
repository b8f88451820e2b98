"""What a model can do, one declared tool each.

Enter at `base.py` for what a tool is and `catalog.py` for the list. A tool declares; `agent.calls` decides
and runs.
"""
