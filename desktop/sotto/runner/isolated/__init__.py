"""An engine in a child process: the parent's side, and the main program of the child."""
