// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Without it: skb_frags_readable */
#include <linux/skbuff.h>

static bool readable(struct sk_buff *skb)
{
	return skb_frags_readable(skb);
}
