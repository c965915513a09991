"""Where questions are written: the editor, its buttons, and the settings of a chat."""
