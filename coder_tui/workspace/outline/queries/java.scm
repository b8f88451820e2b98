(class_declaration name: (_) @name body: (_) @body) @symbol
(interface_declaration name: (_) @name body: (_) @body) @symbol
(enum_declaration name: (_) @name body: (_) @body) @symbol
(record_declaration name: (_) @name body: (_) @body) @symbol
(annotation_type_declaration name: (_) @name body: (_) @body) @symbol
(constructor_declaration name: (_) @name body: (_) @body) @symbol
(method_declaration name: (_) @name body: (_)? @body) @symbol
(line_comment) @quiet
(block_comment) @quiet
(string_literal) @quiet
