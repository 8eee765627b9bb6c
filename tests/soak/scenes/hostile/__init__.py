"""Acts of clients, files and projects that mean harm, by the number of the promise they try to break (docs/soak.md)."""
