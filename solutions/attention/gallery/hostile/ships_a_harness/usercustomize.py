open("/tmp/autograder-forged-4-user", "w").close()
