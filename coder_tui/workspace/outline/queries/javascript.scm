(class_declaration name: (_) @name body: (_) @body) @symbol
(function_declaration name: (_) @name body: (_) @body) @symbol
(generator_function_declaration name: (_) @name body: (_) @body) @symbol
(method_definition name: (_) @name body: (_) @body) @symbol
(field_definition property: (_) @name value: (arrow_function body: (_) @body)) @symbol
(field_definition property: (_) @name value: (function_expression body: (_) @body)) @symbol
(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @symbol
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @symbol
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @symbol
(program (lexical_declaration (variable_declarator name: (identifier) @name) @symbol.const))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @symbol.const)))
(assignment_expression left: (member_expression) @name right: (function_expression body: (_) @body)) @symbol
(assignment_expression left: (member_expression) @name right: (arrow_function body: (_) @body)) @symbol
(comment) @quiet
(string_fragment) @quiet
