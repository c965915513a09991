"""Chats as files for other programs, as web pages, as PDF and on paper."""
