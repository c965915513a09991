"""Where a question is written: the editor, its buttons and the settings of the chat."""
