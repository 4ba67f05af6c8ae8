# NVMe over TCP, to ourselves by two paths: how fast loopback is nobody can read.
nvmet=/sys/kernel/config/nvmet
back=$(null t11 size=64 completion_nsec=100000 irqmode=2)
mkdir $nvmet/subsystems/lab
echo 1 >$nvmet/subsystems/lab/attr_allow_any_host
mkdir $nvmet/subsystems/lab/namespaces/1
echo "$back" >$nvmet/subsystems/lab/namespaces/1/device_path
echo 1 >$nvmet/subsystems/lab/namespaces/1/enable
before=$(ls /sys/block)
for port in 4420 4421; do
    mkdir $nvmet/ports/$port
    for word in addr_trtype=tcp addr_adrfam=ipv4 addr_traddr=127.0.0.1 addr_trsvcid=$port; do
        echo "${word#*=}" >"$nvmet/ports/$port/${word%%=*}"
    done
    ln -s $nvmet/subsystems/lab $nvmet/ports/$port/subsystems/lab
    host="hostnqn=guest,hostid=6b1a0f3e-6a9e-4d3a-8a57-0d2a3c6f1d11"
    echo "nqn=lab,transport=tcp,traddr=127.0.0.1,trsvcid=$port,$host" >/dev/nvme-fabrics
done
node=$(new_disk "$before")
candor inspect "$node"
run --target "$node" --rw randread --direct --engine libaio --depth 16
