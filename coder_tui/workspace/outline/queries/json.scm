(pair key: (_) @name @head) @symbol
