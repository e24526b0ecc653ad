// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "sandbox.h"

#include <cerrno>
#include <cstring>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base.h"

namespace nic
{

void drop_user(const std::string &user)
{
	const passwd *pw = user.empty() ? nullptr : getpwnam(user.c_str());

	if (user.empty())
		return;
	if (!pw)
		die("--user: there is no %s", user.c_str());
	if (initgroups(user.c_str(), pw->pw_gid) ||
	    setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid))
		die("--user %s: %s", user.c_str(), strerror(errno));
}

void drop_privileges()
{
	__user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	__user_cap_data_struct none[2] = {};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) ||
	    syscall(SYS_capset, &head, none))
		die("the worker cannot drop its privileges: %s",
		    strerror(errno));
}

} // namespace nic
