# A striped and a slow linear volume of the device mapper.
one=$(null stripe1 size=64 completion_nsec=1000000 irqmode=2)
two=$(null stripe2 size=64 completion_nsec=1000000 irqmode=2)
echo "0 262144 striped 2 128 $one 0 $two 0" | dmsetup create striped
candor inspect /dev/mapper/striped
run --target /dev/mapper/striped --rw randread --bs 256k --direct --depth 8 --engine libaio
dmsetup remove striped
