"""What is compared between a claim and its evidence, and the words that it is compared by."""
