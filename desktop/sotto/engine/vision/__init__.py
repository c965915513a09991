"""Vision, before anything is computed: how each family lays out an image in a prompt, and reads its pixels."""
