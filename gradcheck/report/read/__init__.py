"""JSON reports read back: one by itself, several merged into one, two compared.

May import the modules of `gradcheck.report` and, of `formats/`, the one that is read. Here
`json_reader` comes first: the other two work on what it reads.
"""
