# All devices of the machine, as candor sees them.
ls -lR /sys/class/nvme-subsystem
dmesg > "$OUT/dmesg"
for serial in plain shared sata virtio sas usb; do
    echo "== $serial"
    candor inspect "$(disk $serial)" || true
done
