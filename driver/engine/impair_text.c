// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Impairments: from text to a rule. Strict, since a rule that is not what its
 * author means makes a test pass that should fail: each word is known, occurs
 * once, and its value is in range.
 *
 *	tx|rx [CONDITION|SELECTION]... ACTION
 */
#include "impair.h"

#include "wire.h"

/* Bits of ornic_impair_rule::words. */
enum {
	WORD_DIR = 1 << 0,
	WORD_TYPE = 1 << 1,
	WORD_OP = 1 << 2,
	WORD_QPN = 1 << 3,
	WORD_PSN = 1 << 4,
	WORD_SRC = 1 << 5,
	WORD_DST = 1 << 6,
	WORD_NTH = 1 << 7,
	WORD_EVERY = 1 << 8,
	WORD_COUNT = 1 << 9,
	WORD_ACTION = 1 << 10,
};

struct span {
	const char *s;
	u32 len;
};

#define QPN_MAX 0xffffffu
#define PSN_MAX 0xffffffu

/* ---- Values -------------------------------------------------------------- */

static bool span_is(struct span span, const char *word)
{
	return span.len == strlen(word) && !memcmp(span.s, word, span.len);
}

static int digit_of(char c, u32 base)
{
	int digit = -1;

	if (c >= '0' && c <= '9')
		digit = c - '0';
	else if (c >= 'a' && c <= 'f')
		digit = c - 'a' + 10;
	else if (c >= 'A' && c <= 'F')
		digit = c - 'A' + 10;
	return digit < (int)base ? digit : -1;
}

/* Decimal, or hexadecimal after 0x, from @min to @max. */
static bool parse_number(struct span span, u64 min, u64 max, u64 *number)
{
	u32 base = 10, i = 0;
	u64 value = 0;
	int digit;

	if (span.len > 2 && span.s[0] == '0' && span.s[1] == 'x') {
		base = 16;
		i = 2;
	}
	if (i == span.len)
		return false;
	for (; i < span.len; i++) {
		digit = digit_of(span.s[i], base);
		if (digit < 0)
			return false;
		/* @max is far below the end of 64 bits. */
		value = value * base + digit;
		if (value > max)
			return false;
	}
	*number = value;
	return value >= min;
}

static const char *parse_u32(struct span value, u32 *number)
{
	u64 parsed;

	if (!parse_number(value, 1, U32_MAX, &parsed))
		return "expected a number from 1 to 4294967295";
	*number = (u32)parsed;
	return NULL;
}

/* ---- Conditions ---------------------------------------------------------- */

static const char *parse_type(struct ornic_impair_rule *rule, struct span value)
{
	static const struct {
		const char *name;
		u8 transport;
	} types[] = {
		{ "rc", ORNIC_RC },
		{ "uc", ORNIC_UC },
		{ "ud", ORNIC_UD },
		{ "xrc", ORNIC_XRC },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (span_is(value, types[i].name)) {
			rule->transport = types[i].transport;
			return NULL;
		}
	}
	return "expected rc, uc, ud or xrc";
}

/* Kinds of packets. @aeth: as in the rule. */
static const struct {
	const char *name;
	u32 flags;
	s32 aeth;
} kinds[] = {
	{ "request", ORNIC_OPF_REQUEST, -1 },
	{ "response", ORNIC_OPF_RESPONSE, -1 },
	{ "send", ORNIC_OPF_SEND, -1 },
	{ "write", ORNIC_OPF_WRITE, -1 },
	{ "read", ORNIC_OPF_READ | ORNIC_OPF_REQUEST, -1 },
	{ "read-response", ORNIC_OPF_READ | ORNIC_OPF_RESPONSE, -1 },
	{ "atomic", ORNIC_OPF_ATOMIC | ORNIC_OPF_REQUEST, -1 },
	{ "atomic-response", ORNIC_OPF_ATOMIC | ORNIC_OPF_RESPONSE, -1 },
	{ "atomic-write", ORNIC_OPF_ATOMIC_WRITE, -1 },
	{ "flush", ORNIC_OPF_FLUSH, -1 },
	{ "ack", 0, ORNIC_AETH_ACK },
	{ "rnr", 0, ORNIC_AETH_RNR },
	{ "nak", 0, ORNIC_AETH_NAK },
};

static const char *parse_op(struct ornic_impair_rule *rule, struct span value)
{
	u64 opcode;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (span_is(value, kinds[i].name)) {
			rule->op_flags = kinds[i].flags;
			rule->aeth = kinds[i].aeth;
			return NULL;
		}
	}
	if (!parse_number(value, 0, 0xff, &opcode))
		return "expected a kind of packet such as send or ack, or a BTH opcode up to 0xff";
	rule->opcode = (s32)opcode;
	return NULL;
}

static const char *parse_qpn(struct ornic_impair_rule *rule, struct span value)
{
	u64 qpn;

	if (span_is(value, "first")) {
		rule->bind = true;
		return NULL;
	}
	if (!parse_number(value, 0, QPN_MAX, &qpn))
		return "expected a QPN up to 0xffffff, or first";
	rule->qpn = (s32)qpn;
	return NULL;
}

static const char *parse_psn(struct ornic_impair_rule *rule, struct span value)
{
	u64 psn;

	if (value.s[0] == '+') {
		rule->relative = true;
		rule->bind = true;
		value.s++;
		value.len--;
	}
	if (!parse_number(value, 0, PSN_MAX, &psn))
		return "expected a PSN up to 0xffffff, or + and a distance";
	rule->psn = (s32)psn;
	return NULL;
}

/* Digits in front of the next other character. */
static struct span take_digits(struct span *text, u32 base)
{
	struct span digits = { text->s, 0 };

	while (digits.len < text->len &&
	       digit_of(text->s[digits.len], base) >= 0)
		digits.len++;
	text->s += digits.len;
	text->len -= digits.len;
	return digits;
}

static bool take_char(struct span *text, char c)
{
	if (!text->len || text->s[0] != c)
		return false;
	text->s++;
	text->len--;
	return true;
}

static bool parse_ipv4(struct span text, u8 *addr)
{
	u64 byte;
	u32 i;

	for (i = 0; i < 4; i++) {
		if ((i && !take_char(&text, '.')) ||
		    !parse_number(take_digits(&text, 10), 0, 0xff, &byte))
			return false;
		addr[i] = (u8)byte;
	}
	return !text.len;
}

static bool take_group(struct span *text, u8 *bytes)
{
	struct span digits = take_digits(text, 16);
	u32 i, group = 0;

	if (!digits.len || digits.len > 4)
		return false;
	for (i = 0; i < digits.len; i++)
		group = group << 4 | (u32)digit_of(digits.s[i], 16);
	bytes[0] = group >> 8;
	bytes[1] = group & 0xff;
	return true;
}

/* RFC 4291 2.2, forms 1 and 2. */
static bool parse_ipv6(struct span text, u8 *addr)
{
	u32 n = 0, gap = U32_MAX;

	if (text.len >= 2 && text.s[0] == ':' && text.s[1] == ':') {
		gap = 0;
		text.s += 2;
		text.len -= 2;
	}
	while (text.len) {
		if (n == 16 || !take_group(&text, addr + n))
			return false;
		n += 2;
		if (!text.len)
			break;
		if (!take_char(&text, ':') || !text.len)
			return false;
		if (take_char(&text, ':')) {
			if (gap != U32_MAX)
				return false;
			gap = n;
		}
	}
	if (gap == U32_MAX || n == 16)
		return gap == U32_MAX && n == 16;
	memmove(addr + 16 - (n - gap), addr + gap, n - gap);
	memset(addr + gap, 0, 16 - n);
	return true;
}

static const char *parse_address(struct span value, u8 *addr, u8 *len)
{
	if (parse_ipv4(value, addr))
		*len = 4;
	else if (parse_ipv6(value, addr))
		*len = 16;
	return *len ? NULL : "expected an IPv4 or IPv6 address";
}

static const char *parse_src(struct ornic_impair_rule *rule, struct span value)
{
	return parse_address(value, rule->src, &rule->src_len);
}

static const char *parse_dst(struct ornic_impair_rule *rule, struct span value)
{
	return parse_address(value, rule->dst, &rule->dst_len);
}

/* ---- Selection ----------------------------------------------------------- */

static const char *parse_nth(struct ornic_impair_rule *rule, struct span value)
{
	return parse_u32(value, &rule->nth);
}

static const char *parse_every(struct ornic_impair_rule *rule,
			       struct span value)
{
	return parse_u32(value, &rule->every);
}

static const char *parse_count(struct ornic_impair_rule *rule,
			       struct span value)
{
	if (span_is(value, "all")) {
		rule->count = 0;
		return NULL;
	}
	if (parse_u32(value, &rule->count))
		return "expected a number from 1 to 4294967295, or all";
	return NULL;
}

/* ---- Actions ------------------------------------------------------------- */

static const char *parse_delay(struct ornic_impair_rule *rule,
			       struct span value)
{
	static const struct {
		const char *name;
		u32 ns;
	} units[] = { { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	struct span number = take_digits(&value, 10);
	u64 time = 0;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (span_is(value, units[i].name) &&
		    parse_number(number, 1,
				 ORNIC_IMPAIR_MAX_DELAY_NS / units[i].ns,
				 &time))
			rule->delay_ns = time * units[i].ns;
	}
	return time ? NULL : "expected a time from 1us to 10s, such as 5ms";
}

static const char *parse_swap(struct ornic_impair_rule *rule, struct span value)
{
	u64 packets = 1;

	if (value.s && !parse_number(value, 1, ORNIC_IMPAIR_HELD, &packets))
		return "expected a number of packets from 1 to 256";
	rule->overtakers = (u32)packets;
	return NULL;
}

/* ---- Words --------------------------------------------------------------- */

enum value_kind { VALUE_NONE, VALUE_MUST, VALUE_MAY };

/*
 * @bit: of ornic_impair_rule::words; @code: direction or action; @parse:
 * returns NULL, or why the value is wrong
 */
static const struct word {
	const char *name;
	u16 bit;
	u8 code;
	enum value_kind value;
	const char *(*parse)(struct ornic_impair_rule *rule, struct span value);
} words[] = {
	{ "tx", WORD_DIR, ORNIC_IMPAIR_TX, VALUE_NONE, NULL },
	{ "rx", WORD_DIR, ORNIC_IMPAIR_RX, VALUE_NONE, NULL },
	{ "type", WORD_TYPE, 0, VALUE_MUST, parse_type },
	{ "op", WORD_OP, 0, VALUE_MUST, parse_op },
	{ "qpn", WORD_QPN, 0, VALUE_MUST, parse_qpn },
	{ "psn", WORD_PSN, 0, VALUE_MUST, parse_psn },
	{ "src", WORD_SRC, 0, VALUE_MUST, parse_src },
	{ "dst", WORD_DST, 0, VALUE_MUST, parse_dst },
	{ "nth", WORD_NTH, 0, VALUE_MUST, parse_nth },
	{ "every", WORD_EVERY, 0, VALUE_MUST, parse_every },
	{ "count", WORD_COUNT, 0, VALUE_MUST, parse_count },
	{ "drop", WORD_ACTION, ORNIC_IMPAIR_DROP, VALUE_NONE, NULL },
	{ "duplicate", WORD_ACTION, ORNIC_IMPAIR_DUPLICATE, VALUE_NONE, NULL },
	{ "delay", WORD_ACTION, ORNIC_IMPAIR_DELAY, VALUE_MUST, parse_delay },
	{ "swap", WORD_ACTION, ORNIC_IMPAIR_SWAP, VALUE_MAY, parse_swap },
	{ "ce", WORD_ACTION, ORNIC_IMPAIR_CE, VALUE_NONE, NULL },
	{ "corrupt", WORD_ACTION, ORNIC_IMPAIR_CORRUPT, VALUE_NONE, NULL },
};

static const struct word *find_word(struct span name)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (span_is(name, words[i].name))
			return &words[i];
	}
	return NULL;
}

/* Split "NAME" or "NAME=VALUE"; the value of the first is NULL. */
static struct span split_word(struct span *name)
{
	struct span value = { NULL, 0 };
	u32 i;

	for (i = 0; i < name->len && name->s[i] != '='; i++)
		;
	if (i == name->len)
		return value;
	value.s = name->s + i + 1;
	value.len = name->len - i - 1;
	name->len = i;
	return value;
}

static const char *check_value(const struct word *word, struct span value)
{
	if (word->value == VALUE_NONE && value.s)
		return "takes no value";
	if (word->value == VALUE_MUST && !value.s)
		return "needs a value, as in NAME=VALUE";
	return value.s && !value.len ? "the value is empty" : NULL;
}

static const char *parse_word(struct ornic_impair_rule *rule, struct span name)
{
	struct span value = split_word(&name);
	const struct word *word = find_word(name);
	const char *why;

	if (!rule->words && (!word || word->bit != WORD_DIR))
		return "a rule begins with tx or rx";
	if (!word)
		return "unknown word";
	if (rule->words & word->bit)
		return word->bit == WORD_ACTION ? "a rule has one action" :
						  "occurs twice";
	why = check_value(word, value);
	if (why)
		return why;
	rule->words |= word->bit;
	if (word->bit == WORD_DIR)
		rule->dir = word->code;
	else if (word->bit == WORD_ACTION)
		rule->action = word->code;
	return word->parse ? word->parse(rule, value) : NULL;
}

static const char *finish_rule(struct ornic_impair_rule *rule)
{
	if (!(rule->words & WORD_DIR))
		return "a rule begins with tx or rx";
	if (!rule->action)
		return "expected an action: drop, duplicate, delay=TIME, swap, ce or corrupt";
	/* Once, unless it is to be repeated. */
	if (!(rule->words & (WORD_EVERY | WORD_COUNT)))
		rule->count = 1;
	rule->next = rule->nth;
	return NULL;
}

static void init_rule(struct ornic_impair_rule *rule)
{
	memset(rule, 0, sizeof(*rule));
	rule->transport = -1;
	rule->opcode = -1;
	rule->aeth = -1;
	rule->qpn = -1;
	rule->psn = -1;
	rule->nth = 1;
	rule->every = 1;
}

/* The next word from @at on; of length 0 at the end. */
static struct span next_word(const char *text, u32 len, u32 at)
{
	struct span word;

	while (at < len && text[at] == ' ')
		at++;
	word.s = text + at;
	while (at < len && text[at] != ' ')
		at++;
	word.len = (u32)(text + at - word.s);
	return word;
}

static bool is_printable(const char *text, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++) {
		if (text[i] < ' ' || text[i] > '~')
			return false;
	}
	return true;
}

int ornic_impair_parse(struct ornic_impair_rule *rule, const char *text,
		       u32 len, struct ornic_impair_error *error)
{
	struct span word = { text, 0 };

	init_rule(rule);
	error->why = NULL;
	if (len && text[len - 1] == '\n')
		len--;
	if (len >= ORNIC_IMPAIR_TEXT)
		error->why = "a rule has at most 239 characters";
	else if (!is_printable(text, len))
		error->why = "a rule is one line of printable ASCII characters";
	while (!error->why) {
		word = next_word(text, len, (u32)(word.s + word.len - text));
		if (!word.len)
			break;
		error->why = parse_word(rule, word);
	}
	if (!error->why)
		error->why = finish_rule(rule);
	error->at = (u32)(word.s - text);
	error->len = word.len;
	if (error->why)
		return -EINVAL;
	memcpy(rule->text, text, len);
	return 0;
}
