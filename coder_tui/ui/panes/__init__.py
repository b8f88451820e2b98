"""The panes beside the chat: changes, problems, todos, and the dock that holds them."""
