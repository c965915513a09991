"""Chats from and to files, and on paper."""
