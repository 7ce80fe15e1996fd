"""`python -m likely` is the command `likely`."""

import sys

from likely.cli import main

sys.exit(main())
