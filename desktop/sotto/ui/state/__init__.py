"""Values that describe models and memory, and how figures are worded."""
