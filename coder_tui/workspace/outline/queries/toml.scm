(table . "[" . (_) @name) @symbol
(table_array_element . "[[" . (_) @name) @symbol
(document (pair . (_) @name @head) @symbol)
