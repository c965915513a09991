"""Reusable widgets and colours, and translation, independent of models and chats."""
