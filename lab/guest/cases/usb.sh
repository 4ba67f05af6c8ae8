# A USB disk takes one command at a time.
run --target "$(disk usb)" --rw randread --direct --engine libaio --depth 16
