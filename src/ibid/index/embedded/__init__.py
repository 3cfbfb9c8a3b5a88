"""The engine in one folder: SQLite, tantivy and mapped vectors."""
