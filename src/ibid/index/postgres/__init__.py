"""The PostgreSQL engine: one schema holds a library, for many writers and stateless readers."""
