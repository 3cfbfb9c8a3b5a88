"""Where passages are held and found: the engines, each with its own room, and filters."""
