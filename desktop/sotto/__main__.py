"""Start Sotto as `python -m sotto`."""

import sys

from sotto.cli.main import main

sys.exit(main())
