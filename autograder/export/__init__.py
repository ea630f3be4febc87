"""Takes results to where marks are kept: an LMS' own tables, a plain table, files to hand back.

Everything here reads an output folder. Nothing is graded and nothing in the folder is changed:
what lateness costs is derived each time anew, from the deadline as it is declared now.
"""
