# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# From the facts of releases with one private ABI, pabi: a C file with the functions that
# the provider calls, and into the file map their versions as libibverbs has them. They
# do nothing, but for those by which the provider knows the release, with `more`
# operations than that has; and who registers is told so.
{
	sub(/:$/, "", $2)
}

$1 == "fn" {
	version[$2] = "IBVERBS_PRIVATE_" pabi
}

$1 == "public" {
	version[$2] = $3
}

$1 == "at" || $1 == "size" {
	value[$2] = $3
}

END {
	registration = "verbs_register_driver_" pabi
	body["verbs_set_ops"] = sprintf("(char *context, void **ops) { " \
		"void **priv = *(void ***)(context + %d); " \
		"for (int i = 0; i < %d; i++) if (ops[i]) priv[3 + i] = ops[i]; }",
		value["verbs_context.priv"],
		value["verbs_context_ops"] / 8 + more)
	result["ibv_qp_to_qp_ex"] = "void *"
	body["ibv_qp_to_qp_ex"] = sprintf("(char *qp) { " \
		"return *(unsigned int *)(qp + %d) & 2 ? qp : 0; }",
		value["verbs_qp.comp_mask"])
	body[registration] = "(void) { puts(\"registered\"); }"
	print "#include <stdio.h>"
	for (name in version) {
		print (name in result ? result[name] : "void ") name \
			(name in body ? body[name] : "(void) { }")
		names[version[name]] = names[version[name]] " " name ";"
	}
	for (node in names)
		print node " {" names[node] " };" >map
}
