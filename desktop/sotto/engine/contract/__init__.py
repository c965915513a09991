"""The values that go into an engine and come out of it."""
