"""What differs between desktops: global shortcuts, login items, a single instance."""
