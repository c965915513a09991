"""Exit statuses of `sotto`; 0 is success. Those above 128 are what a shell reports for the signal."""

ERROR = 1
USAGE = 2
INTERRUPTED = 130
NOBODY_READS = 141
