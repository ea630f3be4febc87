"""Exit codes: 0 done, whatever the marks; 2 the kit or the call is at fault; 130 interrupted."""

EXIT_FAULT = 2
EXIT_INTERRUPTED = 130
