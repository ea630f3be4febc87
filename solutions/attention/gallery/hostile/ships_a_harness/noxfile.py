open("/tmp/autograder-forged-4-nox", "w").close()
