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
static unsigned int passed, failed, skipped;

void kunit_register(struct kunit_suite *const *s, size_t n)
{
	while (n-- && nsuites < MAX_SUITES)
		suites[nsuites++] = *s++;
}

static void kunit_vnote(const char *fmt, va_list ap)
{
	printf("        # ");
	vprintf(fmt, ap);
	printf("\n");
}

void kunit_note(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	(void)test;
	va_start(ap, fmt);
	kunit_vnote(fmt, ap);
	va_end(ap);
}

void kunit_message(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	(void)test;
	if (!fmt)
		return;
	va_start(ap, fmt);
	kunit_vnote(fmt, ap);
	va_end(ap);
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

void kunit_skip_(struct kunit *test, const char *fmt, ...)
{
	va_list ap;

	if (test->status != KUNIT_FAILURE)
		test->status = KUNIT_SKIPPED;
	va_start(ap, fmt);
	vsnprintf(test->reason, sizeof(test->reason), fmt, ap);
	va_end(ap);
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

void kunit_kfree(struct kunit *test, const void *ptr)
{
	struct kunit_mem **m = &test->mem;

	for (; *m; m = &(*m)->next) {
		if ((char *)*m + 16 == ptr) {
			struct kunit_mem *victim = *m;

			*m = victim->next;
			free(victim);
			return;
		}
	}
}

static void free_all(struct kunit *test)
{
	while (test->mem) {
		struct kunit_mem *m = test->mem;

		test->mem = m->next;
		free(m);
	}
}

/* One run of a case: init, the case, exit, whatever happened in between. */
static void run_once(struct kunit_suite *s, struct kunit_case *c,
		     struct kunit *test)
{
	if (!setjmp(test->leave)) {
		if (s->init && s->init(test)) {
			kunit_note(test, "init failed");
			test->status = KUNIT_FAILURE;
		} else {
			c->run_case(test);
		}
	}
	if (s->exit && !setjmp(test->leave))
		s->exit(test);
	free_all(test);
}

static void report(const char *indent, enum kunit_status status, unsigned int n,
		   const char *name, const char *reason)
{
	printf("%s%sok %u %s%s%s\n", indent,
	       status == KUNIT_FAILURE ? "not " : "", n, name,
	       status == KUNIT_SKIPPED ? " # SKIP " : "",
	       status == KUNIT_SKIPPED ? reason : "");
	fflush(stdout);
}

static void count(enum kunit_status status)
{
	if (status == KUNIT_FAILURE)
		failed++;
	else if (status == KUNIT_SKIPPED)
		skipped++;
	else
		passed++;
}

static enum kunit_status run_params(struct kunit_suite *s, struct kunit_case *c)
{
	enum kunit_status all = KUNIT_SKIPPED;
	const void *param = NULL;
	unsigned int n = 0;

	printf("        KTAP version 1\n        # Subtest: %s\n", c->name);
	for (;;) {
		char desc[KUNIT_PARAM_DESC_SIZE] = "";
		struct kunit test = { 0 };

		param = c->generate_params(param, desc);
		if (!param)
			break;
		test.param_value = param;
		run_once(s, c, &test);
		report("        ", test.status, ++n, desc, test.reason);
		count(test.status);
		if (test.status == KUNIT_FAILURE)
			all = KUNIT_FAILURE;
		else if (all == KUNIT_SKIPPED)
			all = test.status;
	}
	return n ? all : KUNIT_FAILURE;
}

static enum kunit_status run_case(struct kunit_suite *s, struct kunit_case *c,
				  unsigned int n)
{
	struct kunit test = { 0 };

	if (c->generate_params) {
		test.status = run_params(s, c);
	} else {
		run_once(s, c, &test);
		count(test.status);
	}
	report("    ", test.status, n, c->name, test.reason);
	return test.status;
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

static enum kunit_status run_suite(struct kunit_suite *s, unsigned int n)
{
	enum kunit_status status = KUNIT_SUCCESS;
	struct kunit_case *c;
	unsigned int i = 0;

	printf("    KTAP version 1\n    # Subtest: %s\n", s->name);
	if (s->suite_init && s->suite_init(s)) {
		failed++;
		return KUNIT_FAILURE;
	}
	for (c = s->test_cases; c->run_case; c++)
		if (is_wanted(s, c) && run_case(s, c, ++i) == KUNIT_FAILURE)
			status = KUNIT_FAILURE;
	if (s->suite_exit)
		s->suite_exit(s);
	report("", status, n, s->name, "");
	return status;
}

static bool any_wanted(struct kunit_suite *s)
{
	struct kunit_case *c;

	for (c = s->test_cases; c->run_case; c++)
		if (is_wanted(s, c))
			return true;
	return false;
}

static int list(void)
{
	struct kunit_case *c;
	size_t i;

	for (i = 0; i < nsuites; i++)
		for (c = suites[i]->test_cases; c->run_case; c++)
			printf("%s.%s\n", suites[i]->name, c->name);
	return 0;
}

static void summarise(const char *path)
{
	FILE *f = path ? fopen(path, "w") : NULL;

	printf("# unit: %u passed, %u failed, %u skipped\n", passed, failed,
	       skipped);
	if (!f)
		return;
	fprintf(f, "%u passed, %u failed, %u skipped\n", passed, failed,
		skipped);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *results = NULL;
	unsigned int n = 0;
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "--list"))
		return list();
	if (argc > 2 && !strcmp(argv[1], "--results")) {
		results = argv[2];
		argc -= 2;
		argv += 2;
	}
	wanted = argv + 1;
	nwanted = argc - 1;
	printf("KTAP version 1\n");
	for (i = 0; i < nsuites; i++)
		if (any_wanted(suites[i]))
			run_suite(suites[i], ++n);
	printf("1..%u\n", n);
	summarise(results);
	return failed || !passed;
}
