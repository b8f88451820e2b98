(section . (atx_heading heading_content: (_)? @name) @head) @symbol
(setext_heading heading_content: (_) @name @head) @symbol
