"""Started by `autograder.sandbox` as `python -I -m autograder.worker CONFIG`."""

import sys

from autograder.worker.zygote import main

main(sys.argv[1])
