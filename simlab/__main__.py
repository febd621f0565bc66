"""``python -m simlab``. Python puts the current directory first on its path; here it is taken off again.

No file that happens to lie there (``click.py``, ``numpy.py``) may stand in for a module.
"""

import contextlib
import os
import sys

with contextlib.suppress(FileNotFoundError):  # the current directory is gone
    if __package__ == "simlab" and not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]

from simlab.cli import main

main()
