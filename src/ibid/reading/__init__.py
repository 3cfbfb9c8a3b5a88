"""Reading: the bytes of one file become a document whose blocks tile its text."""
