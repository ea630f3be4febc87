"""What `check.py` is made of. Nothing here is graded, and nothing here knows the exercises."""
