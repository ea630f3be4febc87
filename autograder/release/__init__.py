"""What goes out: every form of an assignment, built from its one source into dist/<id>/."""
