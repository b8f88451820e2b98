(struct_item name: (_) @name body: (_)? @body) @symbol
(enum_item name: (_) @name body: (_) @body) @symbol
(union_item name: (_) @name body: (_) @body) @symbol
(trait_item name: (_) @name body: (_) @body) @symbol
(impl_item type: (_) @name body: (_)? @body) @symbol
(mod_item name: (_) @name body: (_)? @body) @symbol
(function_item name: (_) @name body: (_) @body) @symbol
(function_signature_item name: (_) @name) @symbol
(const_item name: (_) @name) @symbol
(static_item name: (_) @name) @symbol
(type_item name: (_) @name) @symbol
(macro_definition name: (_) @name) @symbol
(line_comment) @quiet
(block_comment) @quiet
(string_content) @quiet
