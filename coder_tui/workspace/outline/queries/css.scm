(rule_set (selectors) @name (block) @body) @symbol
(media_statement (block) @body) @symbol
(supports_statement (block) @body) @symbol
(keyframes_statement (keyframes_name) @name (keyframe_block_list) @body) @symbol
