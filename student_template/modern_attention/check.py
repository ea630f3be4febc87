"""Checks your work: `python check.py`, in this folder.

    python check.py                     what holds, what does not, and what to do next
    python check.py 2                   one exercise, by its number or its file
    python check.py --watch             again each time that you save, with hints
    python check.py --hint              a hint for the next step; --hint 2 and 3 say more
    python check.py --plots             pictures made by your own code
    python check.py --submit            one zip to hand in
    python check.py --verbose           everything that pytest says

It needs Python with what requirements.txt lists. In a notebook:

    from check import check
    check("positional_encoding", globals())
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit("This needs Python 3.11 or newer; this is " + sys.version.split()[0] + ".")

FOLDER = __file__.replace("\\", "/").rpartition("/")[0] or "."
if __name__ == "__main__":
    # A file of yours called random.py or torch.py must not stand in for the real one.
    sys.path[:] = [entry for entry in sys.path[1:] if entry not in ("", FOLDER)]
sys.path.append(FOLDER)
sys.dont_write_bytecode = True

from checker.command import check, main  # noqa: E402

__all__ = ["check"]

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__))
