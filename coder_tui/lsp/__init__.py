"""Language servers: started on need, asked, and never believed to be clean when they are silent."""
