"""What runs inside other graders: they keep their books, the sandbox judges.

Each module here is loaded by the platform that it is named after, and only there.
"""
