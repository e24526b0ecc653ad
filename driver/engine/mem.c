// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Memory: page lists, the check of keys, and what they map to.
 *
 * Invariant: a published key covers bytes that its pages really hold,
 * iova + length does not wrap, and every offset is computed by subtraction
 * after a comparison, never by an addition that could wrap.
 */
#include "mem.h"
#include "dev.h"
#include "frmr.h"
#include "odp.h"
#include "qp.h"

#define MIN_PAGE_SHIFT ORNIC_PAGE_SHIFT
#define MAX_PAGE_SHIFT 40
#define LIST_BYTES ((u64)ORNIC_LIST_ENTRIES * sizeof(__le64))
#define PAGE_MASK_4K ((1ull << ORNIC_PAGE_SHIFT) - 1)

/* The array of page pointers stays below what one allocation may be. */
#define MAX_LIST_PAGES ((u32)BIT(27))

/* ---- Page lists ------------------------------------------------------------ */

static bool mem_in_range(const struct ornic_dev *dev,
			 const struct ornic_mem *mem)
{
	u64 npages = le32_to_cpu(mem->npages);

	if (mem->page_shift < MIN_PAGE_SHIFT ||
	    mem->page_shift > MAX_PAGE_SHIFT || mem->levels > 3 || !npages ||
	    npages > ornic_max_mem(dev) >> mem->page_shift)
		return false;
	if (!mem->levels)
		return true;
	return npages <= MAX_LIST_PAGES && npages <= 1ull << 9 * mem->levels &&
	       !(le64_to_cpu(mem->addr) & PAGE_MASK_4K);
}

/*
 * Entries of the list at @addr, @level levels above the pages: each once. Between
 * the lists, of which each takes microseconds, others get their turn.
 */
static int walk_list(struct ornic_dev *dev, struct ornic_pages *pages, u64 addr,
		     u32 level, u32 *done)
{
	const __le64 *list = dev->ops->dma(dev->host, addr, LIST_BYTES);
	int err = 0;
	u64 entry;
	u32 i;

	if (!list)
		return -EFAULT;
	ornic_relax(dev);
	for (i = 0; i < ORNIC_LIST_ENTRIES && *done < pages->npages; i++) {
		entry = le64_to_cpu(READ_ONCE(list[i]));
		if (entry & PAGE_MASK_4K)
			return -EINVAL;
		if (level > 1) {
			err = walk_list(dev, pages, entry, level - 1, done);
			if (err)
				return err;
			continue;
		}
		pages->page[*done] = dev->ops->dma(dev->host, entry,
						   1ull << pages->page_shift);
		if (!pages->page[*done])
			return -EFAULT;
		(*done)++;
	}
	return 0;
}

static int get_list(struct ornic_dev *dev, const struct ornic_mem *mem,
		    struct ornic_pages *pages)
{
	u32 done = 0;
	int err;

	pages->page = ornic_vzalloc(pages->npages * sizeof(*pages->page));
	if (!pages->page)
		return -ENOMEM;
	err = walk_list(dev, pages, le64_to_cpu(mem->addr), mem->levels, &done);
	if (err)
		ornic_pages_put(pages);
	return err;
}

int ornic_pages_get_part(struct ornic_dev *dev, const struct ornic_mem *mem,
			 u64 run_bytes, struct ornic_pages *pages)
{
	memset(pages, 0, sizeof(*pages));
	if (!mem_in_range(dev, mem))
		return -EINVAL;
	pages->npages = le32_to_cpu(mem->npages);
	pages->page_shift = mem->page_shift;
	if (mem->levels)
		return get_list(dev, mem, pages);
	run_bytes = min_t(u64, run_bytes, ornic_pages_bytes(pages));
	pages->base =
		dev->ops->run(dev->host, le64_to_cpu(mem->addr), run_bytes);
	return pages->base ? 0 : -EFAULT;
}

int ornic_pages_get(struct ornic_dev *dev, const struct ornic_mem *mem,
		    struct ornic_pages *pages)
{
	return ornic_pages_get_part(dev, mem, U64_MAX, pages);
}

int ornic_pages_get_dm(struct ornic_dev *dev, const struct ornic_mem *mem,
		       struct ornic_pages *pages)
{
	u32 npages = le32_to_cpu(mem->npages);

	memset(pages, 0, sizeof(*pages));
	if (mem->levels || mem->page_shift < MIN_PAGE_SHIFT ||
	    mem->page_shift > MAX_PAGE_SHIFT || !npages ||
	    npages > ORNIC_MAX_MR_BYTES >> mem->page_shift)
		return -EINVAL;
	pages->npages = npages;
	pages->page_shift = mem->page_shift;
	pages->base = dev->ops->dm(dev->host, le64_to_cpu(mem->addr),
				   ornic_pages_bytes(pages));
	return pages->base ? 0 : -EFAULT;
}

void ornic_pages_put(struct ornic_pages *pages)
{
	ornic_vfree(pages->page);
	memset(pages, 0, sizeof(*pages));
}

/* ---- Keys ------------------------------------------------------------------- */

static __always_inline bool is_inside(const struct ornic_mkey *m, u64 addr,
				      u64 len)
{
	return addr >= m->iova && len <= m->length &&
	       addr - m->iova <= m->length - len;
}

static noinline bool range_ok_of_device(const struct ornic_mkey *m, u64 addr,
					u64 len)
{
	if (ornic_mkey_is_dm(m))
		return is_inside(m, addr, len);
	return m->dev->ops->dma(m->dev->host, addr, len);
}

static __always_inline bool range_ok(const struct ornic_mkey *m, u64 addr,
				     u64 len)
{
	if (unlikely(m->dev))
		return range_ok_of_device(m, addr, len);
	return is_inside(m, addr, len);
}

static enum ornic_vendor_err check_key(const struct ornic_mkey *m, u32 key,
				       u32 pdn, u64 addr, u64 len, u8 access)
{
	if (unlikely(m->key != key))
		return ORNIC_VERR_LKEY_UNKNOWN;
	if (unlikely(m->pdn != pdn))
		return ORNIC_VERR_LKEY_PD;
	if (unlikely(access & ~m->access))
		return ORNIC_VERR_LKEY_ACCESS;
	if (len && unlikely(!range_ok(m, addr, len)))
		return ORNIC_VERR_LKEY_RANGE;
	return ORNIC_VERR_NONE;
}

static struct ornic_mkey *mr_lookup(struct ornic_dev *dev, u32 key)
{
	struct ornic_mkey *m = ornic_mkey_lookup(dev, key);

	return m && !m->window ? m : NULL;
}

/* With the lock of @f. IBTA 10.6.4: the free state gives access to nothing. */
static enum ornic_vendor_err check_frmr(const struct ornic_frmr *f, u32 key,
					u32 pdn, u64 addr, u64 len, u8 access)
{
	if (!f->valid)
		return ORNIC_VERR_LKEY_UNKNOWN;
	return check_key(&f->base, key, pdn, addr, len, access);
}

/* Under a lock of a QP, see odp.h. */
static __flatten noinline enum ornic_vendor_err
check_odp(const struct ornic_mkey *m, u32 key, u32 pdn, u64 addr, u64 len,
	  u8 access)
{
	bool write = ornic_access_writes(access);
	enum ornic_vendor_err verr;

	verr = check_key(m, key, pdn, addr, len, access);
	if (verr != ORNIC_VERR_NONE)
		return verr;
	len = ornic_odp_ahead(len);
	return ornic_odp_present(m->odp, addr, len, write) == len ?
		       ORNIC_VERR_NONE :
		       ORNIC_VERR_PAGE;
}

enum ornic_vendor_err ornic_mr_check(const struct ornic_mkey *m, u32 key,
				     u32 pdn, u64 addr, u64 len, u8 access)
{
	enum ornic_vendor_err verr;

	if (likely(!m->guarded))
		return check_key(m, key, pdn, addr, len, access);
	if (m->odp)
		return check_odp(m, key, pdn, addr, len, access);
	ornic_lock(&m->frmr->lock);
	verr = check_frmr(m->frmr, key, pdn, addr, len, access);
	ornic_unlock(&m->frmr->lock);
	return verr;
}

enum ornic_vendor_err ornic_key_check(struct ornic_dev *dev, u32 key, u32 pdn,
				      u64 addr, u64 len, u8 access,
				      struct ornic_mkey **mkey)
{
	struct ornic_mkey *m = mr_lookup(dev, key);
	enum ornic_vendor_err verr;

	if (unlikely(!m))
		return ORNIC_VERR_LKEY_UNKNOWN;
	verr = ornic_mr_check(m, key, pdn, addr, len, access);
	if (verr == ORNIC_VERR_NONE || verr == ORNIC_VERR_PAGE)
		*mkey = m;
	return verr;
}

/*
 * Keys are spread over a part of the table that is as small as can be: each chunk
 * of the table that has one key takes a page.
 */
#define DENSE_KEYS (1u << 20)

int ornic_mkey_reserve(struct ornic_dev *dev, u32 random)
{
	struct ornic_table *t = &dev->mkeys;
	u32 among = min_t(u32, DENSE_KEYS, t->size);

	while (among < t->size && READ_ONCE(t->count) >= among / 2)
		among *= 2;
	return ornic_table_reserve(t, random % among);
}

/* ---- Pieces ------------------------------------------------------------------ */

static bool extends_piece(const struct ornic_frag *last, const u8 *area,
			  const u8 *ptr, u32 len)
{
	const u8 *start = last->ptr;

	return start + last->len == ptr && start >= area &&
	       last->len <= ORNIC_MAX_PIECE - len;
}

/*
 * Append @len bytes at @ptr, which belong to an area that starts at @area. Touching
 * pieces are merged only inside an area.
 */
static bool add_piece(struct ornic_iov *iov, u8 *area, u8 *ptr, u32 len)
{
	if (iov->n && extends_piece(&iov->frag[iov->n - 1], area, ptr, len)) {
		iov->frag[iov->n - 1].len += len;
	} else {
		if (iov->n == iov->max)
			return false;
		iov->frag[iov->n].ptr = ptr;
		iov->frag[iov->n].len = len;
		iov->n++;
	}
	iov->bytes += len;
	return true;
}

/* One piece of memory that was checked; it is not merged with others. */
static u64 add_dma(struct ornic_iov *iov, struct ornic_dev *dev, u64 addr,
		   u64 len)
{
	u32 take = (u32)min_t(u64, len, ORNIC_MAX_PIECE);
	u8 *ptr = dev->ops->dma(dev->host, addr, take);

	return ptr && add_piece(iov, ptr, ptr, take) ? take : 0;
}

/* Whatever lies in one page of a list, or in a run, may be one piece. */
static u8 *area_of(const struct ornic_pages *pages, u8 *ptr, u64 off)
{
	if (!pages->page)
		return pages->base;
	return ptr - (off & ((1ull << pages->page_shift) - 1));
}

static u64 add_mkey(struct ornic_iov *iov, const struct ornic_mkey *mkey,
		    u64 addr, u64 len)
{
	u64 off = ornic_mkey_off(mkey, addr), done, run;
	u8 *ptr, *area;
	u32 take;

	for (done = 0; done < len; done += take) {
		ptr = ornic_pages_at(&mkey->pages, off + done, &run);
		area = area_of(&mkey->pages, ptr, off + done);
		run = min_t(u64, run, len - done);
		take = min_t(u64, run, ORNIC_MAX_PIECE);
		if (!add_piece(iov, area, ptr, take))
			break;
	}
	return done;
}

/* Of all DMA memory, or of device memory. */
static noinline u64 add_of_device(struct ornic_iov *iov,
				  const struct ornic_mkey *mkey, u64 addr,
				  u64 len)
{
	u64 done;

	if (!ornic_mkey_is_dm(mkey))
		return add_dma(iov, mkey->dev, addr, len);
	done = add_mkey(iov, mkey, addr, len);
	ornic_stat_add(mkey->dev, ORNIC_STAT_DM_BYTES, done);
	return done;
}

/* The segment of @f with byte @off of the MR, which has it. */
static u32 find_segment(const struct ornic_frmr *f, u64 off)
{
	u32 low = 0, high = f->nsegs - 1, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (f->seg[mid].end > off)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* A range that was checked. */
static u64 add_segments(struct ornic_iov *iov, const struct ornic_frmr *f,
			u64 addr, u64 len)
{
	u64 off = addr - f->base.iova, done, start;
	u32 i = find_segment(f, off), take;
	const struct ornic_segment *seg;

	for (done = 0; done < len; done += take) {
		seg = &f->seg[i];
		start = i ? f->seg[i - 1].end : 0;
		take = (u32)min_t(u64, min_t(u64, seg->end - off, len - done),
				  ORNIC_MAX_PIECE);
		if (!add_piece(iov, seg->ptr, seg->ptr + (off - start), take))
			break;
		off += take;
		if (off == seg->end)
			i++;
	}
	return done;
}

/* With the lock of @f: a range that was checked. */
static u64 add_frmr_memory(struct ornic_iov *iov, const struct ornic_frmr *f,
			   u64 addr, u64 len)
{
	if (f->seg)
		return add_segments(iov, f, addr, len);
	return add_mkey(iov, &f->base, addr, len);
}

/* What the key was found good for may have been invalidated since. */
static noinline u64 add_frmr(struct ornic_iov *iov,
			     const struct ornic_mkey *mkey, u64 addr, u64 len)
{
	u64 done = 0;

	ornic_lock(&mkey->frmr->lock);
	if (mkey->frmr->valid && range_ok(mkey, addr, len))
		done = add_frmr_memory(iov, mkey->frmr, addr, len);
	ornic_unlock(&mkey->frmr->lock);
	return done;
}

u64 ornic_iov_add_key(struct ornic_iov *iov, const struct ornic_mkey *mkey,
		      u64 addr, u64 len)
{
	if (unlikely(mkey->dev))
		return add_of_device(iov, mkey, addr, len);
	if (unlikely(mkey->guarded))
		return add_frmr(iov, mkey, addr, len);
	return add_mkey(iov, mkey, addr, len);
}

static __flatten noinline enum ornic_vendor_err
map_odp(struct ornic_iov *iov, struct ornic_mkey *m, u32 key, u32 pdn, u64 addr,
	u64 len, u8 access)
{
	enum ornic_vendor_err verr;

	verr = check_key(m, key, pdn, addr, len, access);
	if (verr != ORNIC_VERR_NONE)
		return verr;
	return ornic_odp_map(iov, m->odp, addr, len,
			     ornic_access_writes(access));
}

static noinline enum ornic_vendor_err map_frmr(struct ornic_iov *iov,
					       struct ornic_mkey *m, u32 key,
					       u32 pdn, u64 addr, u64 len,
					       u8 access)
{
	struct ornic_frmr *f = m->frmr;
	enum ornic_vendor_err verr;

	ornic_lock(&f->lock);
	verr = check_frmr(f, key, pdn, addr, len, access);
	if (verr == ORNIC_VERR_NONE)
		add_frmr_memory(iov, f, addr, len);
	ornic_unlock(&f->lock);
	return verr;
}

enum ornic_vendor_err ornic_iov_map(struct ornic_iov *iov,
				    struct ornic_dev *dev, u32 key, u32 pdn,
				    u64 addr, u64 len, u8 access)
{
	struct ornic_mkey *m = mr_lookup(dev, key);

	if (unlikely(!m))
		return ORNIC_VERR_LKEY_UNKNOWN;
	return ornic_iov_map_mr(iov, m, key, pdn, addr, len, access);
}

enum ornic_vendor_err ornic_iov_map_mr(struct ornic_iov *iov,
				       struct ornic_mkey *m, u32 key, u32 pdn,
				       u64 addr, u64 len, u8 access)
{
	enum ornic_vendor_err verr;

	if (unlikely(m->guarded))
		return m->odp ? map_odp(iov, m, key, pdn, addr, len, access) :
				map_frmr(iov, m, key, pdn, addr, len, access);
	verr = check_key(m, key, pdn, addr, len, access);
	if (verr == ORNIC_VERR_NONE)
		ornic_iov_add_key(iov, m, addr, len);
	return verr;
}

__flatten u8 *ornic_mr_bytes(struct ornic_dev *dev, u32 key, u32 pdn, u64 addr,
			     u32 len, u8 access)
{
	struct ornic_mkey *m = ornic_mkey_lookup(dev, key);
	u64 run;
	u8 *at;

	if (!m || m->window || m->frmr || m->dev ||
	    check_key(m, key, pdn, addr, len, access))
		return NULL;
	if (m->odp)
		return ornic_odp_bytes(m->odp, addr, len,
				       ornic_access_writes(access));
	at = ornic_pages_at(&m->pages, ornic_mkey_off(m, addr), &run);
	return len <= run ? at : NULL;
}

enum ornic_vendor_err ornic_iov_add_sgl(struct ornic_iov *iov,
					struct ornic_dev *dev, u32 pdn,
					const struct ornic_lsge *sge, u32 nsge,
					u64 off, u64 len, u8 access)
{
	enum ornic_vendor_err verr;
	u64 take, before;
	u32 i;

	for (i = 0; i < nsge && len; i++) {
		if (off >= sge[i].length) {
			off -= sge[i].length;
			continue;
		}
		take = min_t(u64, sge[i].length - off, len);
		/* An address that wraps lies outside of every key. */
		if (sge[i].addr > U64_MAX - off)
			return ORNIC_VERR_LKEY_RANGE;
		before = iov->bytes;
		verr = ornic_iov_map(iov, dev, sge[i].lkey, pdn,
				     sge[i].addr + off, take, access);
		if (verr != ORNIC_VERR_NONE && sge[i].lkey == ORNIC_NULL_LKEY)
			verr = ornic_iov_add_null(iov, dev, &sge[i], take,
						  access);
		if (verr != ORNIC_VERR_NONE)
			return verr;
		if (iov->bytes - before < take)
			break;
		len -= take;
		off = 0;
	}
	return ORNIC_VERR_NONE;
}

noinline enum ornic_vendor_err
ornic_iov_gather(struct ornic_iov *iov, u8 *bounce, const struct ornic_sgl *sgl)
{
	struct ornic_frag part[8] __uninitialized, room = { bounce, sgl->len };
	struct ornic_iov src = { .frag = part, .max = ARRAY_SIZE(part) };
	struct ornic_iov dst = { &room, 1, 1, sgl->len };
	enum ornic_vendor_err verr;

	if (!bounce || sgl->len > ORNIC_BOUNCE_BYTES)
		return ORNIC_VERR_LKEY_RANGE;
	while (room.len) {
		src.n = 0;
		src.bytes = 0;
		verr = ornic_iov_add_sgl(&src, sgl->dev, sgl->pdn, sgl->sge,
					 sgl->nsge,
					 sgl->off + (sgl->len - room.len),
					 room.len, sgl->access);
		if (verr != ORNIC_VERR_NONE)
			return verr;
		if (!src.bytes)
			return ORNIC_VERR_LKEY_RANGE;
		ornic_iov_copy(&dst, &src);
		room.ptr = (u8 *)room.ptr + src.bytes;
		room.len -= (u32)src.bytes;
	}
	iov->n = 0;
	iov->bytes = 0;
	ornic_iov_add(iov, bounce, sgl->len);
	return ORNIC_VERR_NONE;
}

int ornic_iov_add(struct ornic_iov *iov, void *ptr, u32 len)
{
	if (!len)
		return 0;
	return add_piece(iov, ptr, ptr, len) ? 0 : -ENOSPC;
}

u64 ornic_iov_copy(const struct ornic_iov *dst, const struct ornic_iov *src)
{
	u32 d = 0, s = 0, doff = 0, soff = 0, n;
	u64 done = 0;

	while (d < dst->n && s < src->n) {
		n = min_t(u32, dst->frag[d].len - doff,
			  src->frag[s].len - soff);
		ornic_copy((u8 *)dst->frag[d].ptr + doff,
			   (const u8 *)src->frag[s].ptr + soff, n);
		done += n;
		doff += n;
		soff += n;
		if (doff == dst->frag[d].len) {
			doff = 0;
			d++;
		}
		if (soff == src->frag[s].len) {
			soff = 0;
			s++;
		}
	}
	return done;
}

#define SHORT_BYTES 256u /* longer data takes most of its time to be copied */

enum ornic_vendor_err ornic_sgl_write_pd(struct ornic_dev *dev, u32 pdn,
					 const struct ornic_lsge *sge, u32 nsge,
					 u64 off, const struct ornic_iov *src)
{
	struct ornic_frag dst[8] __uninitialized;
	struct ornic_iov to = { .frag = dst, .max = ARRAY_SIZE(dst) };
	enum ornic_vendor_err verr;
	u64 left = src->bytes;
	const struct ornic_frag *from = src->frag;
	u32 done = 0, t;
	u8 *at;

	/* What is refused here is refused or waited for below. */
	if (src->n == 1 && left && left <= SHORT_BYTES && !off && nsge &&
	    left <= sge->length) {
		at = ornic_mr_bytes(dev, sge->lkey, pdn, sge->addr, (u32)left,
				    ORNIC_ACCESS_LOCAL_WRITE);
		if (at) {
			ornic_copy(at, from->ptr, (u32)left);
			return ORNIC_VERR_NONE;
		}
	}
	while (left) {
		to.n = 0;
		to.bytes = 0;
		verr = ornic_iov_add_sgl(&to, dev, pdn, sge, nsge, off, left,
					 ORNIC_ACCESS_LOCAL_WRITE);
		for (t = 0; t < to.n; t++)
			ornic_copy_on(to.frag[t].ptr, to.frag[t].len, &from,
				      &done);
		if (verr != ORNIC_VERR_NONE)
			return verr;
		if (!to.bytes)
			return ORNIC_VERR_BAD_LENGTH;
		off += to.bytes;
		left -= to.bytes;
	}
	return ORNIC_VERR_NONE;
}
