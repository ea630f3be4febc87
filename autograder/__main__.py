"""`python -m autograder`: the same as the console script."""

from autograder.cli import main

main()
