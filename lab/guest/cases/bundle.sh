# What the kernel answers about every kind of disk, to be replayed by unit tests.
back=$(null backing size=64 memory_backed=1)
echo "0 131072 linear $back 0" | dmsetup create linear
dd if=/dev/zero of=/tmp/loop bs=1M count=4 2>/dev/null
losetup /dev/loop0 /tmp/loop
candor inspect --record "$OUT/bundle.txt" "$(disk plain)" "$(disk shared)" "$(disk sata)" "$(disk virtio)" \
    "$(disk sas)" "$(disk usb)" /dev/mapper/linear /dev/loop0 /dev/ram0
losetup -d /dev/loop0
dmsetup remove linear
wc "$OUT/bundle.txt"
