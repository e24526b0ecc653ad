# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will write and verify a disk over a wire that loses packets, and delete each
# end's device while a program writes: by NVMe, SRP and iSER. Either the program does not
# notice, since the initiator connects again, or it ends with an error; the disk can be
# used again when the device is back.
#
# And NVMe over two devices, one of which goes while a program writes (multipath): it does
# not notice. And NVMe with queues from 1 to 128 and blocks from 512 bytes to 1 MiB (depths),
# on the PCI NIC as well.

variants='nvme srp iser multipath depths
	depths-nic machines=nic append=dma_debug=off' # see pci/local-attack.sh
kernels='stock debug'
limit=500

# shellcheck source=qemu-tests/lib/nvme.sh
. /ornic/qemu-tests/lib/nvme.sh
# shellcheck source=qemu-tests/lib/srp.sh
. /ornic/qemu-tests/lib/srp.sh
# shellcheck source=qemu-tests/lib/iser.sh
. /ornic/qemu-tests/lib/iser.sh
# shellcheck source=qemu-tests/lib/writer.sh
. /ornic/qemu-tests/lib/writer.sh

requires()
{
	need fio
	case $VARIANT in
	srp | iser) "need_$VARIANT"; return ;;
	esac
	need_nvme
	modprobe nvme-core
	case $VARIANT in
	multipath) [ -e /sys/module/nvme_core/parameters/multipath ] ||
		skip 'NVMe without multipath' ;;
	depths*) [ -e /proc/sys/fs/aio-nr ] || skip 'the kernel has no AIO' ;;
	esac
}

# removal srv|cli: that device goes while a program writes
removal() { meanwhile disk ends_within 20 rdma link delete "${1}0"; }

by_nvme()
{
	target_open
	host_connect --reconnect-delay=1
	with_loss disk_works
	removal srv
	add_link srv0 veth-srv
	nvme_listen_again
	continues
	disk_works
	removal cli
	ends
	wait_until 10 test ! -e "$disk"
	add_link cli0 veth-cli
	host_connect
	disk_works
	host_disconnect
	modprobe -r nvme-rdma
	target_close
}

# Each device is both ends of its path.
by_multipath()
{
	ip addr add 10.0.1.1/24 dev veth-cli
	add_link cli0 veth-cli
	cli_dev=cli0
	wait_until 5 gid_index cli0 10.0.1.1
	target_open
	port_open 2 10.0.1.1
	host_connect
	srv_ip=10.0.1.1 cli_ip=10.0.1.1 host_connect
	[ "$(find /sys/class/nvme -name 'nvme[0-9]*' | wc -l)" = 2 ] || fail 'not two paths'
	put /sys/class/nvme-subsystem/nvme-subsys0/iopolicy round-robin
	disk_works
	if [ "$DEV" = ornic ]; then
		[ "$(carried srv)" -gt 1000000 ] || fail 'one path has no load'
		[ "$(carried cli)" -gt 1000000 ] || fail 'one path has no load'
	fi
	removal srv
	continues
	disk_works
	host_disconnect
	port_close 2
	modprobe -r nvme-rdma
	target_close
	add_link srv0 veth-srv
}

by_depths()
{
	local depth size disk_mib=192

	target_open
	host_connect --queue-size=128
	[ "$(cat /sys/class/nvme/nvme*/sqsize)" = 127 ] || fail 'not so deep'
	for depth in 1 8 32 128; do
		for size in 512 4k 64k 1m; do
			echo "depth $depth, blocks of $size"
			fio --name=verify --filename="$disk" --direct=1 --rw=randwrite \
				--bs=$size --size=${disk_mib}M \
				--number_ios=$((depth * 2 + $(times 100))) \
				--iodepth=$depth --ioengine=libaio --verify=crc32c \
				--verify_fatal=1 >fio.out 2>&1 ||
				{ tail -n 20 fio.out; fail 'fio'; }
		done
	done
	host_disconnect
	modprobe -r nvme-rdma
	target_close
}

by_srp()
{
	srp_target_open
	srp_login
	with_loss disk_is_right
	removal cli
	ends
	add_link cli0 veth-cli
	srp_login
	disk_is_right
	removal srv
	srp_target_close
	add_link srv0 veth-srv
	# Before there is a target again, whose disk has lost all.
	ends
	srp_target_open
	srp_logout
	srp_login
	disk_is_right
	srp_logout
	srp_target_close
}

# What the session was made on keeps its parent until it logs out, also without its module.
by_iser()
{
	local parent

	iser_target_open
	iser_login
	parent=$(readlink -f /sys/class/infiniband/cli0/device)
	with_loss disk_is_right
	removal cli
	add_link cli0 veth-cli
	continues
	removal srv
	add_link srv0 veth-srv
	iser_listen_again
	continues
	if [ "$DEV" = ornic ]; then
		[ -e "$parent" ] || fail 'the parent of the session is gone'
		removal cli
		ends_within 20 rmmod ornic_soft
		modprobe ornic_soft
		add_link srv0 veth-srv
		add_link cli0 veth-cli
		iser_listen_again
		continues
	fi
	iser_logout
	[ "$DEV" != ornic ] || wait_until 10 test ! -e "$parent"
	pkill -x iscsid
	iser_target_close
}

run()
{
	case $VARIANT in
	multipath) topology loop ;;
	*-nic) topology nic ;;
	*) topology initial ;;
	esac
	"by_${VARIANT%-nic}"
	wait_until 10 no_objects "$srv_dev"
	wait_until 10 no_objects "$cli_dev"
}
