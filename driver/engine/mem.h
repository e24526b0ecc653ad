/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory: page lists resolved to pointers, memory keys, and the mapping of
 * keyed ranges and SGE lists to pieces of host memory.
 *
 * Lifetime: lookups happen inside the RCU section of an engine call, and the key
 * that they return is good until its end. Its memory is used only under a lock of
 * a QP of the key's own device, taken before the lookup. Destroying a key unlinks
 * it and waits for those locks, so its memory is unused afterwards. No
 * references are counted on the way.
 */
#ifndef ORNIC_ENGINE_MEM_H
#define ORNIC_ENGINE_MEM_H

#include "engine.h"

struct ornic_dev;
struct ornic_frmr;
struct ornic_mw;
struct ornic_odp;

/**
 * ornic_pages_get - resolve @mem through the host's dma and run ops
 * @dev: the device
 * @mem: what to resolve
 * @pages: out, to be given to ornic_pages_put
 *
 * Every list page is read once. List pages and the pages that they name start
 * at multiples of 4 KiB. At most ORNIC_MAX_MR_BYTES in all.
 *
 * Context: may sleep.
 * Return: 0, -EINVAL (shift, levels, count, alignment), -EFAULT (an
 * address that is no DMA memory), -ENOMEM.
 */
int ornic_pages_get(struct ornic_dev *dev, const struct ornic_mem *mem,
		    struct ornic_pages *pages);
/*
 * The same; of a run (levels == 0) only the first @run_bytes are going to be
 * used.
 */
int ornic_pages_get_part(struct ornic_dev *dev, const struct ornic_mem *mem,
			 u64 run_bytes, struct ornic_pages *pages);

/*
 * The same for a run in the memory of the device, through the host's dm op. It has
 * no bound but that of the memory: -EINVAL for a list, -EFAULT outside of it.
 */
int ornic_pages_get_dm(struct ornic_dev *dev, const struct ornic_mem *mem,
		       struct ornic_pages *pages);

/**
 * ornic_copy - copy memory; the two may overlap
 * @to: where to
 * @from: where from
 * @len: bytes
 *
 * The kernel's memmove() takes twice as long as its memcpy() on some CPUs.
 *
 * Context: any.
 */
static inline void ornic_copy(u8 *to, const u8 *from, u32 len)
{
	if (likely(to + len <= from || from + len <= to))
		memcpy(to, from, len);
	else
		memmove(to, from, len);
}

/**
 * struct ornic_mkey - a memory region
 * @key: index << 8 | variant; lkey and rkey
 * @pdn: its PD
 * @access: enum ornic_access
 * @guarded: its memory comes and goes, @frmr or @odp tells how; @pages is not to be
 *	looked at without that
 * @dev: the device, for a key of all DMA memory: addresses are translated at
 *	each use, and @pages is empty; or for one of device memory, whose use is
 *	counted; else NULL
 * @iova: address of its first byte
 * @length: bytes; 0 of an ORNIC_MKEY_OFFSET alone
 * @off0: offset of byte @iova in @pages
 * @pages: the memory, of at least @off0 + @length bytes
 * @window: it is a memory window, no MR (mw.h)
 * @frmr: it is an FRMR, whose lock protects it (frmr.h)
 * @odp: its pages come on demand, and @pages is empty (odp.h)
 * @windows: windows bound to it; it is ORNIC_BUSY while > 0. Negative once it is
 *	destroyed or replaced: no window is bound any more
 * @rcu: commands read it without the lock of a QP
 */
struct ornic_mkey {
	u32 key;
	u32 pdn;
	u8 access;
	bool guarded;
	struct ornic_dev *dev;
	u64 iova;
	u64 length;
	u64 off0;
	struct ornic_pages pages;
	struct ornic_mw *window;
	struct ornic_frmr *frmr;
	struct ornic_odp *odp;
	ornic_atomic_t windows;
	struct ornic_rcu_head rcu;
};

/* Of the keys that have @dev. */
static inline bool ornic_mkey_is_dm(const struct ornic_mkey *mkey)
{
	return mkey->pages.base;
}

/* Where byte @addr of a key with pages is in them. */
static inline u64 ornic_mkey_off(const struct ornic_mkey *mkey, u64 addr)
{
	return mkey->off0 + (addr - mkey->iova);
}

/* Bytes of a piece at most, so that what is added to one still fits 32 bits */
#define ORNIC_MAX_PIECE ((u32)BIT(31))

/**
 * struct ornic_iov - pieces of memory being collected
 * @frag: the pieces, in memory of the caller's
 * @max: how many there is room for
 * @n: pieces so far
 * @bytes: their sum
 */
struct ornic_iov {
	struct ornic_frag *frag;
	u32 max;
	u32 n;
	u64 bytes;
};

/**
 * ornic_copy_on - copy what comes next of some pieces to one place
 * @to: where to
 * @len: bytes, at most ORNIC_MAX_PIECE; the pieces have as many
 * @piece: the piece that comes next; moved
 * @done: bytes of it that are copied; moved
 *
 * Pieces that touch are copied as one.
 *
 * Context: any.
 */
static inline void ornic_copy_on(u8 *to, u32 len,
				 const struct ornic_frag **piece, u32 *done)
{
	const u8 *from;
	u32 part;

	for (; len; len -= part, to += part) {
		from = (const u8 *)(*piece)->ptr + *done;
		part = (*piece)->len - *done;
		while (part < len && (*piece)[1].ptr == from + part)
			part += (++*piece)->len;
		if (part > len) {
			*done = (*piece)->len - (part - len);
			part = len;
		} else {
			++*piece;
			*done = 0;
		}
		ornic_copy(to, from, part);
	}
}

/**
 * struct ornic_lsge - an SGE of a WQE in host order, the device's copy
 * @addr: as work requests know it
 * @length: bytes
 * @lkey: key
 */
struct ornic_lsge {
	u64 addr;
	u32 length;
	u32 lkey;
};

/**
 * ornic_key_check - may a range be used through a key?
 * @dev: the device
 * @key: index and variant
 * @pdn: PD of the QP
 * @addr: first byte
 * @len: bytes
 * @access: enum ornic_access bits that the key must have; 0 = local read
 * @mkey: out: the key, good until the end of the RCU section
 *
 * @len 0 still checks key, PD and access, but no range. The null key has no MR, and
 * fails.
 *
 * Context: inside an RCU section.
 * Return: ORNIC_VERR_NONE or the ORNIC_VERR_LKEY_* that says why not; or
 * ORNIC_VERR_PAGE, with @mkey: the key is good for it, but a page of the first
 * ORNIC_FAULT_BYTES is absent.
 */
enum ornic_vendor_err ornic_key_check(struct ornic_dev *dev, u32 key, u32 pdn,
				      u64 addr, u64 len, u8 access,
				      struct ornic_mkey **mkey);

/**
 * ornic_mr_check - ornic_key_check() for an MR that was looked up
 * @mkey: what is at the index of @key, no window
 * @key: index and variant
 * @pdn: PD of the QP
 * @addr: first byte
 * @len: bytes
 * @access: enum ornic_access bits that the key must have; 0 = local read
 *
 * Context: inside the RCU section of the lookup.
 * Return: as for ornic_key_check().
 */
enum ornic_vendor_err ornic_mr_check(const struct ornic_mkey *mkey, u32 key,
				     u32 pdn, u64 addr, u64 len, u8 access);

/**
 * ornic_iov_map - check a range of a key and append its memory, in one
 * @iov: collects it; iov->bytes tells how far it came
 * @dev: the device
 * @key: index and variant
 * @pdn: PD of the QP
 * @addr: first byte
 * @len: bytes
 * @access: enum ornic_access bits that the key must have; 0 = local read
 *
 * Between ornic_key_check() and ornic_iov_add_key() an FRMR can
 * be invalidated and given other memory; here it cannot.
 *
 * Context: inside an RCU section.
 * Return: as for ornic_key_check(). ORNIC_VERR_PAGE: what precedes the absent page
 * may have been appended.
 */
enum ornic_vendor_err ornic_iov_map(struct ornic_iov *iov,
				    struct ornic_dev *dev, u32 key, u32 pdn,
				    u64 addr, u64 len, u8 access);

/**
 * ornic_iov_map_mr - ornic_iov_map() for an MR that was looked up
 * @iov: collects it; iov->bytes tells how far it came
 * @mkey: what is at the index of @key, no window
 * @key: index and variant
 * @pdn: PD of the QP
 * @addr: first byte
 * @len: bytes
 * @access: enum ornic_access bits that the key must have; 0 = local read
 *
 * Context: inside the RCU section of the lookup.
 * Return: as for ornic_key_check().
 */
enum ornic_vendor_err ornic_iov_map_mr(struct ornic_iov *iov,
				       struct ornic_mkey *mkey, u32 key,
				       u32 pdn, u64 addr, u64 len, u8 access);

/**
 * ornic_mr_bytes - memory of a range that is easy to find
 * @dev: the device
 * @key: index and variant
 * @pdn: PD of the QP
 * @addr: first byte
 * @len: bytes, more than 0
 * @access: enum ornic_access bits that the key must have; 0 = local read
 *
 * For a caller that has another way if this is not enough.
 *
 * Context: inside an RCU section, with a lock of a QP of @dev, which was taken before; the
 * bytes are good until it is released.
 * Return: the bytes; NULL if they are not in one page of an MR that may be used for it,
 * if that page is absent, and for windows, FRMRs, and keys that have ornic_mkey::dev.
 */
u8 *ornic_mr_bytes(struct ornic_dev *dev, u32 key, u32 pdn, u64 addr, u32 len,
		   u8 access);

/**
 * ornic_iov_add_key - append memory of a checked key
 * @iov: collects it
 * @mkey: the key, good for the range
 * @addr: first byte
 * @len: bytes
 *
 * Not for ODP MRs, whose pages may be absent. Appends up to @len bytes from @addr;
 * stops early when @iov is full. Pieces
 * that touch are merged only within one page of the MR (levels > 0) or
 * anywhere (one run).
 *
 * Context: inside the RCU section of the check.
 * Return: bytes appended.
 */
u64 ornic_iov_add_key(struct ornic_iov *iov, const struct ornic_mkey *mkey,
		      u64 addr, u64 len);

/**
 * ornic_iov_add_sgl - append a range of the bytes of an SGE list
 * @iov: collects it
 * @dev: the device
 * @pdn: PD of the QP
 * @sge: the list
 * @nsge: its SGEs
 * @off: first byte, counted over the list
 * @len: bytes
 * @access: rights that the keys must have; 0 = local read
 *
 * Checks each SGE that is touched (zero-length ones are passed over without
 * a look at their key). Stops early when @iov is full. The null key is good for
 * local access.
 *
 * Context: inside an RCU section, whose end is the end of the pieces.
 * Return: ORNIC_VERR_NONE, or why an SGE may not be used; iov->bytes tells
 * how far it came.
 */
enum ornic_vendor_err ornic_iov_add_sgl(struct ornic_iov *iov,
					struct ornic_dev *dev, u32 pdn,
					const struct ornic_lsge *sge, u32 nsge,
					u64 off, u64 len, u8 access);

/* Room for the data of a packet: no path MTU is larger. */
#define ORNIC_BOUNCE_BYTES 4096u

/**
 * struct ornic_sgl - a range of the bytes of an SGE list
 * @dev: the device of its keys
 * @pdn: their PD
 * @sge: the list
 * @nsge: its SGEs
 * @off: first byte, counted over the list
 * @len: bytes
 * @access: rights that the keys must have; 0 = local read
 */
struct ornic_sgl {
	struct ornic_dev *dev;
	u32 pdn;
	const struct ornic_lsge *sge;
	u32 nsge;
	u64 off;
	u32 len;
	u8 access;
};

/**
 * ornic_iov_gather - map a range that has more pieces than there is room for
 * @iov: empty, with room for one piece; out: that of @bounce
 * @bounce: ORNIC_BOUNCE_BYTES; NULL: there is none
 * @sgl: what to copy there
 *
 * Only MRs with gaps have so many pieces in a packet. Keys are checked for every
 * few of them, so a key that is invalidated meanwhile stops it.
 *
 * Context: inside an RCU section, with the lock of the queue that has @bounce.
 * Return: ORNIC_VERR_NONE, or why an SGE may not be used; LKEY_RANGE without
 * @bounce, too.
 */
noinline enum ornic_vendor_err ornic_iov_gather(struct ornic_iov *iov,
						u8 *bounce,
						const struct ornic_sgl *sgl);

/*
 * May an SGE with the null key, which is not empty, be used? ORNIC_VERR_NONE, or
 * ORNIC_VERR_LKEY_RANGE if it wraps: as an SGE with any other key it is refused as a
 * whole, however much of it is used.
 */
enum ornic_vendor_err ornic_null_check(const struct ornic_lsge *sge);

/**
 * ornic_iov_add_null - append what the null key maps to
 * @iov: collects it
 * @dev: the device
 * @sge: the SGE that has the key
 * @len: bytes of it, at least 1
 * @access: 0 for zeroes to read, ORNIC_ACCESS_LOCAL_WRITE for a place to write to,
 *	which nobody reads
 *
 * Stops early when @iov is full.
 *
 * Context: any.
 * Return: ORNIC_VERR_NONE, ORNIC_VERR_LKEY_ACCESS for other access, or as for
 * ornic_null_check().
 */
enum ornic_vendor_err ornic_iov_add_null(struct ornic_iov *iov,
					 struct ornic_dev *dev,
					 const struct ornic_lsge *sge, u64 len,
					 u8 access);

/* Append one plain piece of the engine's own memory. Return: 0 or -ENOSPC. */
int ornic_iov_add(struct ornic_iov *iov, void *ptr, u32 len);

/* Copy @src to @dst (memmove); stops at the shorter. Return: bytes copied. */
u64 ornic_iov_copy(const struct ornic_iov *dst, const struct ornic_iov *src);

/* Take the first @bytes, of which there are so many, off. Changes the pieces. */
static inline void ornic_iov_skip(struct ornic_iov *iov, u32 bytes)
{
	u32 take;

	iov->bytes -= bytes;
	while (bytes) {
		take = min_t(u32, bytes, iov->frag->len);
		iov->frag->ptr = (u8 *)iov->frag->ptr + take;
		iov->frag->len -= take;
		bytes -= take;
		if (iov->frag->len)
			continue;
		iov->frag++;
		iov->n--;
		iov->max--;
	}
}

/*
 * Write the bytes of @src to [@off, ...) of an SGE list, with the keys of PD @pdn:
 * an SRQ may have another than the QP. Keys are checked for every eight pieces of the
 * list, so that a key that is destroyed in the middle of a message stops it. The pieces
 * of @src have its bytes in all. Short data for one page is checked and copied at once.
 * Inside an RCU section, with the lock of a QP of @dev that owns the list, or takes it from
 * an SRQ, which was taken before. On an error all before the bad SGE is written.
 */
enum ornic_vendor_err ornic_sgl_write_pd(struct ornic_dev *dev, u32 pdn,
					 const struct ornic_lsge *sge, u32 nsge,
					 u64 off, const struct ornic_iov *src);

/* IBTA 11.2.8.2: remote writes need the right to write at all. */
static inline bool ornic_access_is_legal(u8 access)
{
	if (access & ~ORNIC_ACCESS_MR_MASK)
		return false;
	if (access & (ORNIC_ACCESS_REMOTE_WRITE | ORNIC_ACCESS_REMOTE_ATOMIC))
		return access & ORNIC_ACCESS_LOCAL_WRITE;
	return true;
}

/* Take an index for a key, as ornic_table_reserve(); @random: 24 random bits. */
int ornic_mkey_reserve(struct ornic_dev *dev, u32 random);

#endif /* ORNIC_ENGINE_MEM_H */
