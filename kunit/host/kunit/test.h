/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The part of the kernel's <kunit/test.h> that the suites use, so that the
 * same files run as a native program (runner.c), under sanitizers.
 *
 * A failed assertion leaves the case by longjmp, as the kernel leaves its
 * thread; the suite's exit still runs and kunit_kzalloc memory is freed.
 */
#ifndef ORNIC_HOST_KUNIT_TEST_H
#define ORNIC_HOST_KUNIT_TEST_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KUNIT_PARAM_DESC_SIZE 128
#define GFP_KERNEL 0

enum kunit_status { KUNIT_SUCCESS, KUNIT_FAILURE, KUNIT_SKIPPED };

struct kunit_mem {
	struct kunit_mem *next;
};

struct kunit {
	void *priv;
	const void *param_value;
	enum kunit_status status;
	char reason[128];
	struct kunit_mem *mem;
	jmp_buf leave;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char name[256];
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(fn)                      \
	{                                   \
		.run_case = fn, .name = #fn \
	}
#define KUNIT_CASE_PARAM(fn, gen)                                   \
	{                                                           \
		.run_case = fn, .name = #fn, .generate_params = gen \
	}

static inline const void *kunit_next_param(const void *prev, const void *array,
					   size_t bytes, size_t size)
{
	const char *next = array;

	if (prev)
		next = (const char *)prev + size;
	return next < (const char *)array + bytes ? next : NULL;
}

#define KUNIT_ARRAY_PARAM_DESC(name, array, member)                        \
	static const void *name##_gen_params(const void *prev, char *desc) \
	{                                                                  \
		__typeof__(&(array)[0]) next = kunit_next_param(           \
			prev, array, sizeof(array), sizeof((array)[0]));   \
		if (next)                                                  \
			snprintf(desc, KUNIT_PARAM_DESC_SIZE, "%s",        \
				 next->member);                            \
		return next;                                               \
	}

void kunit_register(struct kunit_suite *suite);
void kunit_note(struct kunit *test, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void kunit_failed(struct kunit *test, const char *file, int line,
		  const char *what, long long a, long long b);
void kunit_leave(struct kunit *test) __attribute__((noreturn));
void kunit_skip(struct kunit *test, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));
void *kunit_kzalloc(struct kunit *test, size_t size, int gfp);
void kunit_dump(struct kunit *test, const char *name, const void *data,
		size_t size);

#define kunit_info(test, fmt, ...) kunit_note(test, fmt, ##__VA_ARGS__)

#define kunit_test_suite(suite)                                        \
	static void __attribute__((constructor)) kunit_register_(void) \
	{                                                              \
		kunit_register(&(suite));                              \
	}

/*
 * Every comparison comes down to this one: @last is what an ASSERT does, the
 * rest the message of an _MSG variant (NULL: none).
 */
#define KUNIT_CMP_(test, a, op, b, last, ...)                          \
	do {                                                           \
		__typeof__((a) + 0) a_ = (a);                          \
		__typeof__((b) + 0) b_ = (b);                          \
		if (!(a_ op b_)) {                                     \
			kunit_failed(test, __FILE__, __LINE__,         \
				     #a " " #op " " #b, (long long)a_, \
				     (long long)b_);                   \
			kunit_note(test, __VA_ARGS__);                 \
			last;                                          \
		}                                                      \
	} while (0)

#define KUNIT_EXPECT_MEMEQ(test, a, b, size)                                 \
	do {                                                                 \
		const void *a_ = (a);                                        \
		const void *b_ = (b);                                        \
		size_t n_ = (size);                                          \
		if (!a_ || !b_ || memcmp(a_, b_, n_)) {                      \
			kunit_failed(test, __FILE__, __LINE__, #a " == " #b, \
				     n_, n_);                                \
			kunit_dump(test, #a, a_, n_);                        \
			kunit_dump(test, #b, b_, n_);                        \
		}                                                            \
	} while (0)

#define KUNIT_EXPECT_STREQ(test, a, b)                                       \
	do {                                                                 \
		const char *a_ = (a);                                        \
		const char *b_ = (b);                                        \
		if (!a_ || !b_ || strcmp(a_, b_)) {                          \
			kunit_failed(test, __FILE__, __LINE__, #a " == " #b, \
				     0, 0);                                  \
			kunit_note(test, "\"%s\", \"%s\"", a_ ? a_ : "NULL", \
				   b_ ? b_ : "NULL");                        \
		}                                                            \
	} while (0)

#define KUNIT_FAIL(test, ...)                                               \
	do {                                                                \
		kunit_failed(test, __FILE__, __LINE__, "no failure", 0, 0); \
		kunit_note(test, __VA_ARGS__);                              \
	} while (0)
#define KUNIT_GO_ ((void)0)

#define KUNIT_EXPECT_TRUE(t, c) KUNIT_CMP_(t, !!(c), ==, true, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_TRUE_MSG(t, c, ...) \
	KUNIT_CMP_(t, !!(c), ==, true, KUNIT_GO_, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE(t, c) \
	KUNIT_CMP_(t, !!(c), ==, false, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_EQ(t, a, b) KUNIT_CMP_(t, a, ==, b, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_EQ_MSG(t, a, b, ...) \
	KUNIT_CMP_(t, a, ==, b, KUNIT_GO_, __VA_ARGS__)
#define KUNIT_EXPECT_NE(t, a, b) KUNIT_CMP_(t, a, !=, b, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_NE_MSG(t, a, b, ...) \
	KUNIT_CMP_(t, a, !=, b, KUNIT_GO_, __VA_ARGS__)
#define KUNIT_EXPECT_LT(t, a, b) KUNIT_CMP_(t, a, <, b, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_LE(t, a, b) KUNIT_CMP_(t, a, <=, b, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_GT(t, a, b) KUNIT_CMP_(t, a, >, b, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_GE(t, a, b) KUNIT_CMP_(t, a, >=, b, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_PTR_EQ(t, a, b) KUNIT_CMP_(t, a, ==, b, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_NULL(t, p) \
	KUNIT_CMP_(t, (const void *)(p), ==, NULL, KUNIT_GO_, NULL)
#define KUNIT_EXPECT_NOT_NULL(t, p) \
	KUNIT_CMP_(t, (const void *)(p), !=, NULL, KUNIT_GO_, NULL)

#define KUNIT_ASSERT_TRUE(t, c) \
	KUNIT_CMP_(t, !!(c), ==, true, kunit_leave(t), NULL)
#define KUNIT_ASSERT_FALSE(t, c) \
	KUNIT_CMP_(t, !!(c), ==, false, kunit_leave(t), NULL)
#define KUNIT_ASSERT_EQ(t, a, b) KUNIT_CMP_(t, a, ==, b, kunit_leave(t), NULL)
#define KUNIT_ASSERT_NE(t, a, b) KUNIT_CMP_(t, a, !=, b, kunit_leave(t), NULL)
#define KUNIT_ASSERT_GT(t, a, b) KUNIT_CMP_(t, a, >, b, kunit_leave(t), NULL)
#define KUNIT_ASSERT_GE(t, a, b) KUNIT_CMP_(t, a, >=, b, kunit_leave(t), NULL)
#define KUNIT_ASSERT_NOT_NULL(t, p) \
	KUNIT_CMP_(t, (const void *)(p), !=, NULL, kunit_leave(t), NULL)

/* What suites of modules also say. */
#define MODULE_LICENSE(s)
#define MODULE_DESCRIPTION(s)
#define MODULE_IMPORT_NS(s)

#endif /* ORNIC_HOST_KUNIT_TEST_H */
