"""The main window: menus, dialogs, the list of chats and the pane in view."""
