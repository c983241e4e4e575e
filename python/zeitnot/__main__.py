"""`python -m zeitnot`: the program in the place of Python."""

import os
import subprocess
import sys

from ._program import program

if __name__ == "__main__":
    if os.name == "nt":
        sys.exit(subprocess.call([program(), *sys.argv[1:]]))
    os.execv(program(), [program(), *sys.argv[1:]])
