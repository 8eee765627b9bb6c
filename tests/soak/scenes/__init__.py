"""A scene: what it needs to run, and the list of those there are."""
