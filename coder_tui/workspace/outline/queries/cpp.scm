(namespace_definition name: (_) @name body: (_) @body) @symbol
(class_specifier name: (_) @name body: (_) @body) @symbol
(struct_specifier name: (_) @name body: (_) @body) @symbol
(union_specifier name: (_) @name body: (_) @body) @symbol
(enum_specifier name: (_) @name body: (_) @body) @symbol
(function_definition declarator: (function_declarator declarator: (_) @name) body: (_) @body) @symbol
(function_definition declarator: (_ (function_declarator declarator: (_) @name)) body: (_) @body) @symbol
(function_definition declarator: (function_declarator declarator: (_) @name)) @symbol
(declaration declarator: (function_declarator declarator: (_) @name)) @symbol
(declaration declarator: (_ (function_declarator declarator: (_) @name))) @symbol
(field_declaration declarator: (function_declarator declarator: (_) @name)) @symbol
(field_declaration declarator: (_ (function_declarator declarator: (_) @name))) @symbol
(alias_declaration name: (_) @name) @symbol
(type_definition declarator: (type_identifier) @name) @symbol
(concept_definition name: (_) @name) @symbol
(preproc_def name: (_) @name value: (_)) @symbol
(preproc_function_def name: (_) @name) @symbol
(comment) @quiet
(string_content) @quiet
