"""Conversations: their turns and drafts, what is under way in them, and how they are saved."""
