"""The straight ways: of a document into the library, and of a question out to its answer."""
