/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory that a struct ornic_mem names, resolved to pointers. */
#ifndef ORNIC_ENGINE_PAGES_H
#define ORNIC_ENGINE_PAGES_H

#include "env.h"

/**
 * struct ornic_pages - memory named by a struct ornic_mem
 * @base: the run, when levels was 0
 * @page: pointers to its pages, when levels was > 0 (else NULL)
 * @npages: as in struct ornic_mem
 * @page_shift: as in struct ornic_mem
 */
struct ornic_pages {
	u8 *base;
	u8 **page;
	u32 npages;
	u8 page_shift;
};

/* Release what ornic_pages_get() resolved; zeroed pages are fine. May sleep. */
void ornic_pages_put(struct ornic_pages *pages);

/**
 * ornic_pages_bytes - size of a memory
 * @pages: the memory
 *
 * Return: bytes.
 */
static inline u64 ornic_pages_bytes(const struct ornic_pages *pages)
{
	return (u64)pages->npages << pages->page_shift;
}

/**
 * ornic_pages_at - pointer to a byte of @pages
 * @pages: resolved
 * @off: of the byte, below ornic_pages_bytes()
 * @run: out: bytes from there to the end of its page (or of the run)
 *
 * Context: any.
 * Return: the pointer.
 */
static inline void *ornic_pages_at(const struct ornic_pages *pages, u64 off,
				   u64 *run)
{
	u64 page_bytes = 1ull << pages->page_shift;
	u64 in_page = off & (page_bytes - 1);

	if (!pages->page) {
		*run = ornic_pages_bytes(pages) - off;
		return pages->base + off;
	}
	*run = page_bytes - in_page;
	return pages->page[off >> pages->page_shift] + in_page;
}

#endif /* ORNIC_ENGINE_PAGES_H */
