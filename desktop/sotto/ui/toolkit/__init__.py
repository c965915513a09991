"""Widgets, timers and colours that know nothing of models or chats."""
