"""Side by side with the peers: the same cells, in one run, on one machine. Start it with `python -m benchmarks`.

`cases` lists what is compared, `contenders` how each package writes and reads it, `measure` takes times and counts
exact cells, `memory` takes the peak of one case in a process of its own, `report` prints it all.
"""
