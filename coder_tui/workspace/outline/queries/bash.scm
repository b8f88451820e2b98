(function_definition name: (_) @name body: (_) @body) @symbol
(program (variable_assignment name: (_) @name) @symbol)
(comment) @quiet
(raw_string) @quiet
(string_content) @quiet
