# A SATA disk, whose link is 1.5 Gb/s, read in large blocks.
run --target "$(disk sata)" --rw read --bs 1m --direct --engine libaio --depth 4
