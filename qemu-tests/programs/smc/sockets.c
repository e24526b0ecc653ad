// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Preloaded into programs of TCP: their sockets are of SMC, which goes over RDMA. */
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SOCK_TYPE_MASK 0xf /* include/linux/net.h */

int socket(int domain, int type, int protocol)
{
	if (domain == AF_INET && (type & SOCK_TYPE_MASK) == SOCK_STREAM) {
		domain = AF_SMC;
		protocol = 0; /* SMCPROTO_SMC of net/smc/smc.h: IPv4 */
	}
	return (int)syscall(SYS_socket, domain, type, protocol);
}
