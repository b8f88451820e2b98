(type_spec name: (_) @name type: (struct_type (field_declaration_list) @body)) @symbol.type
(type_spec name: (_) @name) @symbol.type
(type_alias name: (_) @name) @symbol.type
(method_elem name: (_) @name) @symbol
(function_declaration name: (_) @name body: (_)? @body) @symbol
(method_declaration name: (_) @name body: (_)? @body) @symbol
(source_file (const_declaration (const_spec name: (identifier) @name) @symbol.const))
(source_file (var_declaration (var_spec name: (identifier) @name) @symbol.var))
(comment) @quiet
(interpreted_string_literal) @quiet
(raw_string_literal) @quiet
