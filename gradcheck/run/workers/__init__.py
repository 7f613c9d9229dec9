"""Cases in worker processes of this machine, which may crash, hang or exit."""
