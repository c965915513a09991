"""The HTTP server of the child process, the parent's connection to it, and bounds on HTTP connections."""
