# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# NFS over RDMA (RFC 8166) with the server and the client of the kernel, each in its
# namespace of the topology veth. What the server exports is a tmpfs.
#
# Mounts are made by nsenter, which keeps the mount namespace of the case.

# shellcheck source=qemu-tests/lib/shared_files.sh
. /ornic/qemu-tests/lib/shared_files.sh

nfs_port=20049 # IANA: NFS over RDMA
export_dir=/run/nfs-export
mount_dir=/run/nfs

need_nfs()
{
	need rpc.nfsd exportfs rpc.mountd rpcbind mount.nfs
	need_modules nfsd nfsv3 nfsv4 rpcrdma
}

# In the initial namespace there are no such files.
in_srv() { ${srv_prefix:+nsenter --net=/run/netns/srv} "$@"; }
in_cli() { ${cli_prefix:+nsenter --net=/run/netns/cli} "$@"; }

# nfs_server_open: export $export_dir in the namespace of the server
nfs_server_open()
{
	modprobe -a nfsd rpcrdma
	mkdir -p "$export_dir" "$mount_dir" /run/rpcbind
	mount -t tmpfs export "$export_dir"
	in_srv mount -t nfsd nfsd /proc/fs/nfsd
	in_srv rpcbind || fail 'no rpcbind'
	in_srv exportfs -i -o rw,no_root_squash,insecure,sync,fsid=0 "*:$export_dir" ||
		fail 'nothing exported'
	in_srv rpc.mountd || fail 'no rpc.mountd'
	nfs_server_start
}

# nfs_server_start: its threads; in_srv rpc.nfsd 0 ends them and all connections
nfs_server_start()
{
	in_srv rpc.nfsd --rdma=$nfs_port --grace-time 10 --lease-time 10 4 ||
		fail 'no rpc.nfsd'
	grep -q "^rdma $nfs_port" /proc/fs/nfsd/portlist ||
		fail 'the server does not listen to RDMA'
}

nfs_server_close()
{
	in_srv rpc.nfsd 0
	pkill -x rpc.mountd || :
	pkill -x rpcbind || :
	in_srv exportfs -au
	umount /proc/fs/nfsd "$export_dir"
}

# nfs_mount VERSION [tcp]
nfs_mount()
{
	local options=vers=$1 path=/ transport=${2-rdma}

	[ "$transport" = tcp ] || options+=,rdma,port=$nfs_port
	# Its paths are those of the server, and locks are another protocol.
	[ "$1" != 3 ] || options+=,nolock,mountproto=tcp path=$export_dir
	in_cli mount -t nfs -o "$options" "$srv_ip:$path" "$mount_dir" ||
		fail "version $1 cannot be mounted"
	grep -A 20 " mounted on $mount_dir " /proc/self/mountstats |
		grep -q "xprt:.$transport" || fail "the transport is not $transport"
}
