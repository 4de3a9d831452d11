"""`python -m agentmux`."""

import sys

from agentmux.cli import main

if __name__ == "__main__":
    sys.exit(main())
