"""What quantization costs: perplexity and KL divergence against the original."""
