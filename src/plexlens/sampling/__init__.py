"""CPU time of the processes, threads and control groups of a Linux server: sampled to a file, and read again."""
