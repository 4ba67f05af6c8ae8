# One namespace behind two controllers: the head that one uses counts nothing in older kernels.
node=$(disk shared)
candor inspect "$node"
run --target "$node" --rw randread --direct --engine libaio --depth 8
