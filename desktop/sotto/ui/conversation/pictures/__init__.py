"""The images of conversations: reading, decoding and saving them off the window's thread, and their thumbnails."""
