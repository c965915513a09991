"""The page to find models: suggestions, and a search on Hugging Face."""
