"""Where bytes are: one file a store."""
