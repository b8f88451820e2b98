(create_table (object_reference name: (_) @name)) @symbol
(create_view (object_reference name: (_) @name)) @symbol
(create_materialized_view (object_reference name: (_) @name)) @symbol
(create_function (object_reference name: (_) @name)) @symbol
(create_trigger . (object_reference name: (_) @name)) @symbol
(create_type (object_reference name: (_) @name)) @symbol
(create_index column: (_) @name) @symbol
(comment) @quiet
