/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Drops privileges of the worker. Any failure ends the program. */
#ifndef ORNIC_NIC_SANDBOX_H
#define ORNIC_NIC_SANDBOX_H

#include <string>

namespace nic
{

/** Switch to @user and its groups; "": keep the current user. */
void drop_user(const std::string &user);

/** In the worker, which has all its files open: drop capabilities, and disable
 *  new privileges, core dumps and ptrace. */
void drop_privileges();

/** In the worker: install a seccomp filter that only allows its system calls and no
 *  executable memory. @connects: also allow connecting streams. Other calls kill the
 *  worker by SIGSYS. Not with sanitizers, which need more system calls. */
void confine(bool connects);

} // namespace nic

#endif // ORNIC_NIC_SANDBOX_H
