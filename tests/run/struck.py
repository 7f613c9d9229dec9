"""Loading this sends the process a signal, the first three times: as somebody outside may do it."""

import os
import signal
from pathlib import Path

if "STRUCK_BY" in os.environ:
    with Path(os.environ["STRUCK_IN"]).open("a") as file:
        file.write("x")
        times = file.tell()
    if times <= 3:
        os.kill(os.getpid(), getattr(signal, os.environ["STRUCK_BY"]))
