"""From logits to a token: penalties, the distribution, and the random choice."""
