"""The likely cause of a mismatch: suspects that are heard one after the other."""
