"""`python -m zeitnot`: the program in the place of Python."""

import os
import subprocess
import sys

from ._program import program

if __name__ == "__main__":
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)
