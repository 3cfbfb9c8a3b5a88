"""What the stages know of language: terms, sentences, and which language a text is in."""
