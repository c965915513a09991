"""Making a model of one's own from another: the sheet for it, and what happens behind it."""
