# A device whose accounting was switched off.
node=$(null unaccounted size=64 completion_nsec=100000 irqmode=2)
echo 0 >"/sys/block/${node#/dev/}/queue/iostats"
run --target "$node" --rw randread --direct
