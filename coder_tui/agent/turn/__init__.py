"""Run one turn: send the conversation to the model, run its calls, repeat until it is done.

Enter at `turn.py`. A single call is run by `agent.calls`, what is sent is chosen by `agent.context`.
"""
