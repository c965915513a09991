"""Reading the chats of other programs from their exports and files."""
