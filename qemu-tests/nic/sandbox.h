/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Less rights for who works for guests. What fails ends the program. */
#ifndef ORNIC_NIC_SANDBOX_H
#define ORNIC_NIC_SANDBOX_H

#include <string>

namespace nic
{

/** Become @user, and its groups; "": stay who we are. */
void drop_user(const std::string &user);

/** For the worker, which has all that it needs as file descriptors: no
 *  capability, no new privileges, no core and no debugger. */
void drop_privileges();

/** For the worker, from now on: no system call but those of its work, and no memory
 *  that is executable. @connects: it has streams to begin. Another call ends it by
 *  SIGSYS. Programs with sanitizers are not held to it: theirs are others. */
void confine(bool connects);

} // namespace nic

#endif // ORNIC_NIC_SANDBOX_H
