# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# From the facts of releases with one private ABI, pabi: a C file of functions that
# do nothing, and into the file map their versions as libibverbs has them.
{
	sub(/:$/, "", $2)
}

$1 == "fn" {
	version[$2] = "IBVERBS_PRIVATE_" pabi
}

$1 == "public" {
	version[$2] = $3
}

END {
	for (name in version) {
		print "void " name "(void) { }"
		names[version[name]] = names[version[name]] " " name ";"
	}
	for (node in names)
		print node " {" names[node] " };" >map
}
