"""The command palette, which finds chats, models and menu actions by a few letters."""
