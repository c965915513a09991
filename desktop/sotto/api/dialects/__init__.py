"""What each dialect's requests and answers look like."""
