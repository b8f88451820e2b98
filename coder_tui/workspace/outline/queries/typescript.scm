(class_declaration name: (_) @name body: (_) @body) @symbol
(abstract_class_declaration name: (_) @name body: (_) @body) @symbol
(interface_declaration name: (_) @name body: (_) @body) @symbol
(enum_declaration name: (_) @name body: (_) @body) @symbol
(type_alias_declaration name: (_) @name) @symbol
(internal_module name: (_) @name body: (_) @body) @symbol
(module name: (_) @name body: (_) @body) @symbol
(function_declaration name: (_) @name body: (_) @body) @symbol
(generator_function_declaration name: (_) @name body: (_) @body) @symbol
(function_signature name: (_) @name) @symbol
(method_definition name: (_) @name body: (_) @body) @symbol
(method_signature name: (_) @name) @symbol
(abstract_method_signature name: (_) @name) @symbol
(public_field_definition name: (_) @name value: (arrow_function body: (_) @body)) @symbol
(variable_declarator name: (identifier) @name value: (arrow_function body: (_) @body)) @symbol
(variable_declarator name: (identifier) @name value: (function_expression body: (_) @body)) @symbol
(program (lexical_declaration (variable_declarator name: (identifier) @name) @symbol.const))
(program (export_statement (lexical_declaration (variable_declarator name: (identifier) @name) @symbol.const)))
(comment) @quiet
(string_fragment) @quiet
