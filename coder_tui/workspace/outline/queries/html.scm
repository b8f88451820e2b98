((element (start_tag (attribute (attribute_name) @_id (quoted_attribute_value (attribute_value) @name))) @head) @symbol (#eq? @_id "id"))
((element (start_tag (tag_name) @_tag)) @symbol (#match? @_tag "^[hH][1-6]$"))
