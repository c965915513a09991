"""Looking for a newer Sotto: a signed list of versions at one address, and how this one was installed."""
