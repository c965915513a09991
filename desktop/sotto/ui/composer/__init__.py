"""The composer: the draft with its attachments and buttons, the context gauge, and the settings of a chat."""
