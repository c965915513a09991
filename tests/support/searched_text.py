"""A text that counts how often it is searched, for tests of what the window's thread does with long ones."""


class SearchedText(str):
    """A text whose parts count, too.

    Attributes:
        searches: How often any text of this kind has been searched.
    """

    searches = 0

    def __getitem__(self, part):
        """Return a part that counts as well."""
        return SearchedText(super().__getitem__(part))

    def __contains__(self, part):
        """Count the search."""
        SearchedText.searches += 1
        return super().__contains__(part)
