# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=bash
# This test will have servers and clients of TCP talk over RDMA, by a preloaded library that
# gives them sockets of SMC-R: nginx and curl, redis and its tools, and iperf3. Files and
# values arrive unchanged.

kernels='stock'
limit=200
direct=1

# shellcheck source=qemu-tests/lib/smc.sh
. /ornic/qemu-tests/lib/smc.sh

requires()
{
	need nginx curl redis-server redis-cli redis-benchmark iperf3
	[ "$DEV" = ornic ] || skip "$DEV has no RoCE v1"
	need_smc
}

# server PORT COMMAND...: sets $server. It listens to TCP as well, beneath SMC.
server()
{
	"${srv_prefix[@]}" env LD_PRELOAD="$PROGRAMS/ornic_smc_sockets.so" "${@:2}" >srv.out 2>&1 &
	server=$!
	wait_until 30 listening "$server" "$1"
}

# client COMMAND...: output: cli.out
client()
{
	echo "$*"
	"${cli_prefix[@]}" timeout -s KILL $((60 * SCALE)) \
		env LD_PRELOAD="$PROGRAMS/ornic_smc_sockets.so" "$@" >cli.out || fail "status $?: $*"
}

end_server()
{
	kill "$server"
	wait "$server" || :
}

web()
{
	mkdir -p web/temp
	head -c 8M /dev/urandom >web/file
	cat >nginx.conf <<-END
		daemon off;
		pid nginx.pid;
		error_log stderr;
		user root;
		events { }
		http {
			access_log off;
			client_body_temp_path temp;
			server { listen $srv_ip:8080; root $PWD/web; }
		}
	END
	server 8080 nginx -p "$PWD/web" -c "$PWD/nginx.conf"
	client curl -sS -o back "http://$srv_ip:8080/file" -o back2 "http://$srv_ip:8080/file"
	cmp web/file back || fail 'the file differs'
	cmp web/file back2 || fail 'the second file differs'
	end_server
}

values()
{
	local redis="redis-cli -h $srv_ip"

	server 6379 redis-server --bind "$srv_ip" --save '' --protected-mode no
	head -c 1000001 /dev/urandom | base64 -w 0 >value
	# shellcheck disable=SC2086 # a list of words
	client $redis -x set key <value
	# shellcheck disable=SC2086
	client $redis --raw get key
	cmp <(head -c -1 cli.out) value || fail 'the value differs'
	client redis-benchmark -h "$srv_ip" -t set,get,lpush,lrange_100 -n "$(times 5000)" \
		-c 10 -P 4 -q
	end_server
}

stream()
{
	server 5201 iperf3 -4 -s -1
	client iperf3 -c "$srv_ip" -n 20M "$@"
	wait "$server" || fail 'iperf3 -s'
}

run()
{
	with_roce_v1
	topology veth
	over_rdma 16000000 web
	over_rdma 2000000 values
	over_rdma 20000000 stream
	over_rdma 20000000 stream -P 4
	over_rdma 20000000 stream -R
	smc_close
}
