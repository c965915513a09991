"""Exit statuses of `sotto`; 0 is success. Those above 128 are what shells report for signals."""

ERROR = 1
USAGE = 2
INTERRUPTED = 130
NOBODY_READS = 141
