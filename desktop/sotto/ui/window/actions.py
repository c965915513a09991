"""The actions that the menus of the main window offer."""

from collections.abc import Callable
from dataclasses import dataclass, fields

from sotto.ui.transfer.chat_exporting import Form

Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class WindowActions:
    """The functions behind the menu entries; each field is named after its entry."""

    new_chat: Action
    quick_prompt: Action
    new_chat_folder: Action
    open_model: Action
    open_model_folder: Action
    add_folder_of_models: Action
    get_model: Action
    get_model_by_name: Action
    manage_models: Action
    rescan_models: Action
    attach_files: Action
    import_chats: Action
    import_chat_folder: Action
    export_chat: Callable[[Form], object]
    export_all_chats: Callable[[Form], object]
    print_chat: Action
    eject_model: Action
    settings: Action
    close_window: Action
    quit: Action
    find_in_chat: Action
    search: Action
    go_to_models: Action
    command_palette: Action
    chat_settings: Action
    toggle_sidebar: Action
    local_server: Action
    help: Action
    shortcuts: Action
    open_logs: Action
    copy_report: Action
    licences: Action
    check_updates: Action
    stop: Action
    about: Action

    def name_of(self, act: Action) -> str:
        """Return the name of one of the actions, which is the same in every language."""
        return next(field.name for field in fields(self) if getattr(self, field.name) is act)
