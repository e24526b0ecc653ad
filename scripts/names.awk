# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# One meaning for each name: prints each struct, union or enum that two files
# define, and functions of two files whose names differ by the order of their
# words alone. First the output of functions.awk, then the files themselves.

function note(key, name, file)
{
	if (!(key in where)) {
		where[key] = file
		called[key] = name
	} else if (where[key] != file || called[key] != name) {
		print file ": " name ", and " where[key] " has " called[key]
	}
}

# "ornic_qp_create" -> "create ornic qp"
function words(name,   word, n, i, j, low, all)
{
	n = split(name, word, "_")
	for (i = 1; i <= n; i++) {
		for (j = i + 1; j <= n; j++)
			if (word[j] < word[i]) {
				low = word[j]
				word[j] = word[i]
				word[i] = low
			}
		all = all " " word[i]
	}
	return all
}

FILENAME == "-" {
	if (!$4)
		note(words($3), $3 "()", $2)
	next
}

/^(struct|union|enum) [a-z0-9_]+ \{/ { note($1 " " $2, $1 " " $2, FILENAME) }
