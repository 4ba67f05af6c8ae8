# A disk of 512-byte sectors on 4 KiB physical ones, the first of them seven sectors in.
node=$(debugged physblk_exp=3 lowest_aligned=7 ndelay=100000)
candor inspect "$node"
run --target "$node" --rw randread --direct
