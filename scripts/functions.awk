# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The functions of C and C++ files in kernel style, whose braces stand in
# column 1: "LINES FILE NAME STATIC" each, STATIC being 1 or 0.

FNR == 1 { head = type = ""; inside = 0 }

# A head may go over several lines: it begins with the type, which may have a
# line to itself, and ends with the brace or a semicolon.
!inside && /^[a-zA-Z_].*\(/ && !/^(else|typedef|struct [a-z_]+ \{)/ {
	head = type $0
}
{ type = !inside && /^[a-zA-Z_][a-zA-Z_0-9 *]*$/ ? $0 " " : "" }
!inside && /;$/ { head = "" }

/^\{/ && head != "" {
	inside = 1
	start = FNR
}

/^\}/ && inside {
	name = head
	sub(/\(.*/, "", name)
	sub(/.*[ *&]/, "", name)
	print FNR - start + 1, FILENAME, name, head ~ /^static/ ? 1 : 0
	inside = 0
	head = ""
}
