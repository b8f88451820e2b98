"""Pure decisions: what may run, what must be asked, what never."""
