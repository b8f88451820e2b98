(function_definition declarator: (function_declarator declarator: (identifier) @name) body: (_) @body) @symbol
(function_definition declarator: (pointer_declarator (function_declarator declarator: (identifier) @name)) body: (_) @body) @symbol
(function_definition declarator: (pointer_declarator (pointer_declarator (function_declarator declarator: (identifier) @name))) body: (_) @body) @symbol
(declaration declarator: (function_declarator declarator: (identifier) @name)) @symbol
(declaration declarator: (pointer_declarator (function_declarator declarator: (identifier) @name))) @symbol
(struct_specifier name: (_) @name body: (_) @body) @symbol
(union_specifier name: (_) @name body: (_) @body) @symbol
(enum_specifier name: (_) @name body: (_) @body) @symbol
(type_definition declarator: (type_identifier) @name) @symbol
(preproc_def name: (_) @name value: (_)) @symbol
(preproc_function_def name: (_) @name) @symbol
(comment) @quiet
(string_content) @quiet
