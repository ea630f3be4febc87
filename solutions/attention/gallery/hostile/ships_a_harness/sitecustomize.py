open("/tmp/autograder-forged-4-site", "w").close()
