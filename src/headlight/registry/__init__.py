"""Everything that is looked up by name: entries, their options, and how names and options are written."""
