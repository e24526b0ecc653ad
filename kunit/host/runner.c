// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Runs the KUnit suites natively and prints KTAP, as the kernel does.
 *
 *	unit [--list] [--results FILE] [SUITE[.CASE] ...]
 *
 * Exit status: 0 when at least one case ran and none failed.
 */
#include <stdarg.h>

#include <kunit/test.h>

#define MAX_SUITES 128

static struct kunit_suite *suites[MAX_SUITES];
static size_t nsuites;
static char **wanted;
static int nwanted;
static unsigned int count[3]; /* by enum kunit_status */

void kunit_register(struct kunit_suite *suite)
{
	if (nsuites < MAX_SUITES)
		suites[nsuites++] = suite;
}

/* Also of an _MSG variant, whose message may be NULL. */
void kunit_note(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	(void)test;
	if (!fmt)
		return;
	printf("        # ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

void kunit_failed(struct kunit *test, const char *file, int line,
		  const char *what, long long a, long long b)
{
	test->status = KUNIT_FAILURE;
	kunit_note(test, "%s:%d: expected %s", file, line, what);
	kunit_note(test, "  left %lld (0x%llx), right %lld (0x%llx)", a, a, b,
		   b);
}

void kunit_dump(struct kunit *test, const char *name, const void *data,
		size_t size)
{
	const unsigned char *p = data;
	size_t i;

	(void)test;
	printf("        #   %s:", name);
	for (i = 0; p && i < size && i < 64; i++)
		printf("%s%02x", i % 4 ? "" : " ", p[i]);
	printf("\n");
}

void kunit_skip(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	if (test->status != KUNIT_FAILURE)
		test->status = KUNIT_SKIPPED;
	va_start(ap, fmt);
	vsnprintf(test->reason, sizeof(test->reason), fmt, ap);
	va_end(ap);
	kunit_leave(test);
}

void kunit_leave(struct kunit *test)
{
	longjmp(test->leave, 1);
}

void *kunit_kzalloc(struct kunit *test, size_t size, int gfp)
{
	struct kunit_mem *m = calloc(1, sizeof(*m) + 16 + size);

	(void)gfp;
	if (!m)
		return NULL;
	m->next = test->mem;
	test->mem = m;
	return (char *)m + 16;
}

/* One run of a case: init, the case, exit, whatever happened in between. */
static void run_once(struct kunit_suite *s, struct kunit_case *c,
		     struct kunit *test)
{
	struct kunit_mem *m;

	if (!setjmp(test->leave)) {
		if (s->init && s->init(test))
			KUNIT_FAIL(test, "init failed");
		else
			c->run_case(test);
	}
	if (s->exit && !setjmp(test->leave))
		s->exit(test);
	while ((m = test->mem)) {
		test->mem = m->next;
		free(m);
	}
	count[test->status]++;
}

static void report(const char *indent, const struct kunit *test, unsigned int n,
		   const char *name)
{
	printf("%s%sok %u %s%s%s\n", indent,
	       test->status == KUNIT_FAILURE ? "not " : "", n, name,
	       test->status == KUNIT_SKIPPED ? " # SKIP " : "", test->reason);
	fflush(stdout);
}

/* Fails with one of its parameters, and when there are none. */
static void run_params(struct kunit_suite *s, struct kunit_case *c,
		       struct kunit *all)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	const void *param = NULL;
	unsigned int n = 0;

	printf("        KTAP version 1\n        # Subtest: %s\n", c->name);
	while ((param = c->generate_params(param, desc))) {
		struct kunit test = { .param_value = param };

		run_once(s, c, &test);
		report("        ", &test, ++n, desc);
		if (test.status == KUNIT_FAILURE)
			all->status = KUNIT_FAILURE;
	}
	if (!n)
		all->status = KUNIT_FAILURE;
}

static bool is_wanted(struct kunit_suite *s, struct kunit_case *c)
{
	char full[512];
	int i;

	snprintf(full, sizeof(full), "%s.%s", s->name, c->name);
	for (i = 0; i < nwanted; i++)
		if (!strcmp(wanted[i], s->name) || !strcmp(wanted[i], full))
			return true;
	return !nwanted;
}

static void run_suite(struct kunit_suite *s, unsigned int number)
{
	struct kunit all = { 0 };
	struct kunit_case *c;
	unsigned int n = 0;

	printf("    KTAP version 1\n    # Subtest: %s\n", s->name);
	for (c = s->test_cases; c->run_case; c++) {
		struct kunit test = { 0 };

		if (!is_wanted(s, c))
			continue;
		if (c->generate_params)
			run_params(s, c, &test);
		else
			run_once(s, c, &test);
		report("    ", &test, ++n, c->name);
		if (test.status == KUNIT_FAILURE)
			all.status = KUNIT_FAILURE;
	}
	report("", &all, number, s->name);
}

static void list(void)
{
	struct kunit_case *c;
	size_t i;

	for (i = 0; i < nsuites; i++)
		for (c = suites[i]->test_cases; c->run_case; c++)
			printf("%s.%s\n", suites[i]->name, c->name);
}

static void summarise(FILE *to, const char *prefix)
{
	fprintf(to, "%s%u passed, %u failed, %u skipped\n", prefix,
		count[KUNIT_SUCCESS], count[KUNIT_FAILURE],
		count[KUNIT_SKIPPED]);
}

int main(int argc, char **argv)
{
	FILE *results = NULL;
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "--results")) {
		results = fopen(argv[2], "w");
		argc -= 2;
		argv += 2;
	}
	wanted = argv + 1;
	nwanted = argc - 1;
	printf("KTAP version 1\n1..%zu\n", nsuites);
	for (i = 0; i < nsuites; i++)
		run_suite(suites[i], i + 1);
	summarise(stdout, "# unit: ");
	if (results) {
		summarise(results, "");
		fclose(results);
	}
	return count[KUNIT_FAILURE] || !count[KUNIT_SUCCESS];
}
