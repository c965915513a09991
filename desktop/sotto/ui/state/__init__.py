"""Values that describe models, memory and drops, and the formatting of numbers and names."""
