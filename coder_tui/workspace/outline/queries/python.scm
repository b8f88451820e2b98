(class_definition name: (_) @name body: (_) @body) @symbol
(function_definition name: (_) @name body: (_) @body) @symbol
(module (expression_statement (assignment left: (identifier) @name) @symbol))
(type_alias_statement left: (_) @name) @symbol
(comment) @quiet
(string_content) @quiet
