"""What is looked up by name: entries, the options they take, and how names and options are written."""
