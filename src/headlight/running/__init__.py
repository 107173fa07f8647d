"""Running a network without touching it: on a double, undisturbed, within memory, in enough bits."""
