(element (STag (Name) @name) @head) @symbol
(element (EmptyElemTag (Name) @name) @head) @symbol
