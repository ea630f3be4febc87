"""Started by `autograder.sandbox` as `python -I -m autograder.worker CONFIG`."""

import os
import sys

from autograder.worker.zygote import main

main(sys.argv[1])
os._exit(0)  # nothing is left to be said or written: no need to take torch apart
