// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sandbox.h"

#include <cerrno>
#include <cstring>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base.h"

namespace nic
{

namespace
{

#ifdef __SANITIZE_ADDRESS__
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

// Used by the worker itself, and by malloc(), abort() and raise().
constexpr const char *calls[] = {
	"read",		"write",	  "recvfrom",	     "recvmsg",
	"sendto",	"sendmsg",	  "epoll_pwait2",    "epoll_pwait",
	"epoll_ctl",	"accept4",	  "close",	     "fcntl",
	"munmap",	"mremap",	  "madvise",	     "brk",
	"sched_yield",	"clock_gettime",  "clock_nanosleep", "nanosleep",
	"getrandom",	"getpid",	  "gettid",	     "tgkill",
	"rt_sigaction", "rt_sigprocmask", "rt_sigreturn",    "restart_syscall",
	"futex",	"exit",		  "exit_group",	     "writev",
	"lseek",	"ftruncate",	  "preadv2",	     "poll",
	"ppoll",
};

constexpr const char *connect_calls[] = { "socket", "connect" };
constexpr const char *memory_calls[] = { "mmap", "mprotect" };

} // namespace

void drop_user(const std::string &user)
{
	const passwd *pw = user.empty() ? nullptr : getpwnam(user.c_str());

	if (user.empty())
		return;
	if (!pw)
		die("--user: unknown user %s", user.c_str());
	if (initgroups(user.c_str(), pw->pw_gid) ||
	    setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid))
		die("--user %s: %s", user.c_str(), strerror(errno));
}

void drop_privileges()
{
	__user_cap_header_struct head = { _LINUX_CAPABILITY_VERSION_3, 0 };
	__user_cap_data_struct none[2] = {};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    syscall(SYS_capset, &head, none))
		die("the worker cannot drop its privileges: %s",
		    strerror(errno));
}

void confine(bool connects)
{
	scmp_filter_ctx filter =
		is_sanitized ? nullptr : seccomp_init(SCMP_ACT_KILL_PROCESS);
	int ret = 0;
	auto allow = [&](const char *name, u32 n, scmp_arg_cmp arg = {}) {
		if (!ret)
			ret = seccomp_rule_add(
				filter, SCMP_ACT_ALLOW,
				seccomp_syscall_resolve_name(name), n, arg);
	};

	if (is_sanitized)
		return;
	if (!filter)
		die("no memory for the seccomp filter");
	for (const char *name : calls)
		allow(name, 0);
	for (const char *name : memory_calls)
		allow(name, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (connects)
		for (const char *name : connect_calls)
			allow(name, 0);
	if (!ret)
		ret = seccomp_load(filter);
	seccomp_release(filter);
	if (ret)
		die("cannot install the seccomp filter: %s", strerror(-ret));
}

} // namespace nic
