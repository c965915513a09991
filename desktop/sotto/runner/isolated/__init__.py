"""An engine in a process of its own, seen from its parent, and how that process begins."""
