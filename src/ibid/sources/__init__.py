"""Where documents come from: folders, and what is said beside their files."""
