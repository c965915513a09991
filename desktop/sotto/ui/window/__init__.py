"""The main window: menus, dialogs, the sidebar with the list of chats, and the pane in view."""
