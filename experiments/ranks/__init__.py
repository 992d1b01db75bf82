"""What ranks cost beside threads, and what many of them would bring."""
