"""Loading this ends the process, as a TensorFlow built for another processor would."""

import os
import sys

# Only in the fork server: a tool that merely looks at all files must survive.
if "gradcheck.run.workers.server_process" in sys.modules and "pytest" not in sys.modules:
    os._exit(132)
