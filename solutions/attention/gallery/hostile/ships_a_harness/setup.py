open("/tmp/autograder-forged-4-setup", "w").close()
