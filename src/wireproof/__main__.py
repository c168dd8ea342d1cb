"""``python -m wireproof``."""

import sys

from wireproof.cli import main

if __name__ == "__main__":
    sys.exit(main())
