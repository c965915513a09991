"""Values about models and memory, and how figures are worded."""
