"""What each desktop does in its own way: shortcuts, login items, one instance at a time."""
