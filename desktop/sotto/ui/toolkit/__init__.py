"""Reusable widgets, timers and colours, independent of models and chats."""
