# A disk made of memory; older kernels do not count its I/O.
run --target /dev/ram0 --rw randread --direct
