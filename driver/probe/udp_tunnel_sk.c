// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: incompatible */
/* UDP tunnels are named by their sock, not by their socket */
#include <net/udp_tunnel.h>

static void close(struct sock *sk)
{
	udp_tunnel_sock_release(sk);
}
