"""PDF: from glyphs on pages to paragraphs, headings and tables with their boxes."""
