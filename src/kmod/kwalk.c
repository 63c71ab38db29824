// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kwalk: the kernel's own memory, mapped read-only into a process. Offset = physical address.
 *
 * Nothing is mapped up front. A page is inserted when it is touched, and only after qualifies() has said that it is RAM
 * which the kernel itself owns: no process's memory, no page cache, no free page. Whatever is refused is a SIGBUS.
 *
 * A page may change its owner later. Each page inserted is therefore noted in `noted`, and looked at again every
 * recheck_ms; what no longer qualifies is unmapped from everybody. Memory that goes offline is unmapped at once.
 *
 * Invariant: what is mapped is noted. Page faults hold `gate` for reading while they check, note and insert; whoever
 * forgets and unmaps holds it for writing, so no page slips in between.
 */
#define pr_fmt(fmt) "kwalk: " fmt

#include <linux/bitmap.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/hugetlb.h>
#include <linux/ktime.h>
#include <linux/memory.h>
#include <linux/memory_hotplug.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mount.h>
#include <linux/page-flags.h>
#include <linux/pseudo_fs.h>
#include <linux/rwsem.h>
#include <linux/security.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#ifdef CONFIG_PAGE_TABLE_CHECK
#include <linux/page_table_check.h>
#endif

/* Pages whose notes fill one page of bits: 128 MiB of memory where a page is 4 KiB. */
#define CHUNK_PAGES (PAGE_SIZE * BITS_PER_BYTE)

static int set_recheck_ms(const char *text, const struct kernel_param *param);
static const struct kernel_param_ops recheck_ms_ops = { .set = set_recheck_ms, .get = param_get_uint };
static unsigned int recheck_ms = 1000;
module_param_cb(recheck_ms, &recheck_ms_ops, &recheck_ms, 0644);
MODULE_PARM_DESC(recheck_ms, "how often mapped pages are checked again, in milliseconds (10 to 60000)");

static unsigned long pages_noted;
module_param(pages_noted, ulong, 0444);
MODULE_PARM_DESC(pages_noted, "pages that are or were mapped, as of the last check");

static unsigned long pages_zapped;
module_param(pages_zapped, ulong, 0444);
MODULE_PARM_DESC(pages_zapped, "pages unmapped so far because they no longer qualified");

static unsigned long recheck_us;
module_param(recheck_us, ulong, 0444);
MODULE_PARM_DESC(recheck_us, "how long the last check took, in microseconds");

static DECLARE_RWSEM(gate);
static DEFINE_XARRAY(noted); /* pfn / CHUNK_PAGES -> a page of bits */
static atomic_long_t mappings = ATOMIC_LONG_INIT(0);
static unsigned long leaving_start, leaving_end; /* pfns on their way offline; under gate */

static struct workqueue_struct *queue;
static void recheck(struct work_struct *work);
static DECLARE_DELAYED_WORK(recheck_work, recheck);

/* One address space for all openings of all device nodes, so that one call unmaps a page from everybody. */
static struct vfsmount *own_mount;
static struct inode *own_inode;

/*
 * Whether the kernel's own mapping of all memory has this page, the way we would map it.
 *
 * Pages are taken out of it that nobody may read by accident, and in an encrypted guest it has those that are shared
 * with the host, which must be mapped as shared or not at all. Interrupts are off against a page table freed meanwhile.
 */
static bool in_direct_map(unsigned long pfn)
{
#ifdef CONFIG_X86_64
	pteval_t usual = pgprot_val(PAGE_KERNEL),
		 encryption = usual ^ pgprot_val(pgprot_decrypted(PAGE_KERNEL));
	pteval_t found = 0;
	unsigned long flags;
	unsigned int level;
	pte_t *pte;

	local_irq_save(flags);
	pte = lookup_address((unsigned long)__va(PFN_PHYS(pfn)), &level);
	if (pte)
		found = pte_val(READ_ONCE(*pte));
	local_irq_restore(flags);
	return (found & _PAGE_PRESENT) && !((found ^ usual) & encryption);
#else
	return true;
#endif
}

static bool of_page_cache_or_process(struct page *page, struct page *head)
{
	/* Without a mapping these flags still tell: swap cache, or a page just taken from the page cache. */
#ifdef HAVE_FOLIO
	struct folio *folio = page_folio(page);

	if (folio_test_lru(folio) || folio_test_swapbacked(folio) || folio_test_uptodate(folio))
		return true;
#else
	if (PageLRU(head) || PageSwapBacked(head) || PageUptodate(head))
		return true;
#endif
	return READ_ONCE(head->mapping) || PageHuge(page);
}

static bool mapped_by_process(struct page *page)
{
#ifdef HAVE_LARGE_MAPCOUNT
	return folio_mapped(page_folio(page));
#else
	return atomic_read(&page->_mapcount) >= 0;
#endif
}

/*
 * Whether the kernel itself uses this page, told without any lock: right now, perhaps not a moment later.
 *
 * The order matters: `mapping` and `_mapcount` mean something else in slab and typed pages, slab pages of late kernels
 * have a reference count of zero, and all but the head of a compound page always have. A count of zero otherwise is a
 * free page, memory that was not accepted yet, or a later page of a block that has no head: never mapped.
 */
static bool kernel_owned(struct page *page)
{
	struct page *head = compound_head(page);

	if (PageHWPoison(page))
		return false;
	if (PageSlab(head))
		return true;
	if (page_has_type(head) || page_has_type(page)) {
#ifdef HAVE_LARGE_KMALLOC
		if (PageLargeKmalloc(head))
			return true;
#endif
		return PageTable(head);
	}
	if (PageReserved(page))
		return true;
	return page_count(head) > 0 && !of_page_cache_or_process(page, head) && !mapped_by_process(page);
}

static bool qualifies(unsigned long pfn)
{
	struct page *page;

	if (pfn >= leaving_start && pfn < leaving_end)
		return false;
	page = pfn_to_online_page(pfn);
	return page && kernel_owned(page) && in_direct_map(pfn);
}

static int note(unsigned long pfn)
{
	unsigned long *bits = xa_load(&noted, pfn / CHUNK_PAGES), *other;

	if (!bits) {
		bits = (unsigned long *)get_zeroed_page(GFP_KERNEL);
		if (!bits)
			return -ENOMEM;
		other = xa_cmpxchg(&noted, pfn / CHUNK_PAGES, NULL, bits, GFP_KERNEL);
		if (other) {
			free_page((unsigned long)bits);
			if (xa_is_err(other))
				return xa_err(other);
			bits = other;
		}
	}
	set_bit(pfn % CHUNK_PAGES, bits);
	return 0;
}

static unsigned long recheck_delay(void)
{
	return msecs_to_jiffies(clamp(READ_ONCE(recheck_ms), 10U, 60000U));
}

/* A new interval begins now; what is set while loading meets no queue yet. */
static int set_recheck_ms(const char *text, const struct kernel_param *param)
{
	int error = param_set_uint(text, param);

	if (!error && queue)
		mod_delayed_work(queue, &recheck_work, recheck_delay());
	return error;
}

static void unmap_pages(unsigned long start, unsigned long count)
{
	unmap_mapping_range(own_inode->i_mapping, PFN_PHYS(start), PFN_PHYS(count), 1);
}

/* Unmap those pages of a chunk whose bits are set in stale, and forget them. */
static void zap(unsigned long chunk, unsigned long *bits, const unsigned long *stale)
{
	unsigned long start, end;

	down_write(&gate);
	for (start = find_first_bit(stale, CHUNK_PAGES); start < CHUNK_PAGES;
	     start = find_next_bit(stale, CHUNK_PAGES, end)) {
		end = find_next_zero_bit(stale, CHUNK_PAGES, start);
		bitmap_clear(bits, start, end - start);
		unmap_pages(chunk * CHUNK_PAGES + start, end - start);
		pages_zapped += end - start;
	}
	up_write(&gate);
}

/* Set in stale those noted pages of a chunk that no longer qualify. Returns whether there are any. */
static bool find_stale(unsigned long chunk, const unsigned long *bits, unsigned long *stale)
{
	unsigned long i;
	bool any = false;

	bitmap_zero(stale, CHUNK_PAGES);
	down_read(&gate);
	for_each_set_bit(i, bits, CHUNK_PAGES) {
		if (qualifies(chunk * CHUNK_PAGES + i))
			continue;
		__set_bit(i, stale);
		any = true;
	}
	up_read(&gate);
	return any;
}

/* Forget all pages if nothing is mapped. A mapping is counted before its first page fault, which then notes anew. */
static bool forget_all(void)
{
	unsigned long chunk;
	void *bits;
	bool idle;

	down_write(&gate);
	idle = !atomic_long_read(&mappings);
	if (idle) {
		xa_for_each(&noted, chunk, bits)
			free_page((unsigned long)bits);
		xa_destroy(&noted);
	}
	up_write(&gate);
	return idle;
}

static void recheck(struct work_struct *work)
{
	static unsigned long stale[CHUNK_PAGES / BITS_PER_LONG]; /* never two at a time */
	unsigned long chunk, *bits, count = 0;
	ktime_t begin = ktime_get();

	if (forget_all()) {
		pages_noted = 0;
		return;
	}
	xa_for_each(&noted, chunk, bits) {
		count += bitmap_weight(bits, CHUNK_PAGES);
		if (find_stale(chunk, bits, stale))
			zap(chunk, bits, stale);
		cond_resched();
	}
	pages_noted = count;
	recheck_us = ktime_us_delta(ktime_get(), begin);
	queue_delayed_work(queue, &recheck_work, recheck_delay());
}

/* Refuse memory on its way offline and unmap it; on a failed or complete end, the kernel's own state tells again. */
static int memory_event(struct notifier_block *block, unsigned long event, void *data)
{
	struct memory_notify *range = data;

	down_write(&gate);
	switch (event) {
	case MEM_GOING_OFFLINE:
		/* The memory's own page structures may lie at the start of its block, before what is announced. */
		leaving_start = ALIGN_DOWN(range->start_pfn, PAGES_PER_SECTION);
		leaving_end = range->start_pfn + range->nr_pages;
		unmap_pages(leaving_start, leaving_end - leaving_start);
		break;
	case MEM_CANCEL_OFFLINE:
	case MEM_OFFLINE: leaving_start = leaving_end = 0; break;
	}
	up_write(&gate);
	return NOTIFY_OK;
}

static struct notifier_block memory_block = { .notifier_call = memory_event };

static vm_fault_t kwalk_fault(struct vm_fault *vmf)
{
	unsigned long pfn = vmf->pgoff;
	vm_fault_t result = VM_FAULT_SIGBUS;

	down_read(&gate);
	if (qualifies(pfn) && page_is_ram(pfn))
		result = note(pfn) ? VM_FAULT_OOM : vmf_insert_pfn(vmf->vma, vmf->address, pfn);
	up_read(&gate);
	queue_delayed_work(queue, &recheck_work, recheck_delay());
	return result;
}

static void kwalk_vma_open(struct vm_area_struct *vma)
{
	atomic_long_inc(&mappings);
}

static void kwalk_vma_close(struct vm_area_struct *vma)
{
	atomic_long_dec(&mappings);
}

static const struct vm_operations_struct kwalk_vm_ops = {
	.open = kwalk_vma_open,
	.close = kwalk_vma_close,
	.fault = kwalk_fault,
};

static void change_flags(struct vm_area_struct *vma, unsigned long set, unsigned long clear)
{
#ifdef HAVE_VM_FLAGS_SET
	vm_flags_set(vma, set);
	vm_flags_clear(vma, clear);
#else
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
#endif
}

static int kwalk_mmap(struct file *file, struct vm_area_struct *vma)
{
	int error;

	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	/* Of a file opened for reading only, VM_SHARED is never set. */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	error = security_locked_down(LOCKDOWN_KCORE);
	if (error)
		return error;
	/* VM_IO also keeps madvise() from taking VM_DONTCOPY and VM_DONTDUMP back. */
	change_flags(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTCOPY | VM_DONTDUMP,
		     VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &kwalk_vm_ops;
	kwalk_vma_open(vma);
	return 0;
}

static int kwalk_open(struct inode *inode, struct file *file)
{
	int error;

	if (!capable(CAP_SYS_RAWIO) || (file->f_mode & FMODE_WRITE))
		return -EPERM;
	error = security_locked_down(LOCKDOWN_KCORE);
	if (error)
		return error;
	file->f_mapping = own_inode->i_mapping;
	return 0;
}

static const struct file_operations kwalk_file_ops = {
	.owner = THIS_MODULE,
	.open = kwalk_open,
	.mmap = kwalk_mmap,
};

static struct miscdevice kwalk_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "kwalk",
	.mode = 0600,
	.fops = &kwalk_file_ops,
};

static int own_fs_context(struct fs_context *context)
{
	return init_pseudo(context, 0x6b77616c) ? 0 : -ENOMEM;
}

/* No owner: a mount that lives as long as the module would keep the module from ever leaving. */
static struct file_system_type own_fs = {
	.name = "kwalk",
	.init_fs_context = own_fs_context,
	.kill_sb = kill_anon_super,
};

static int make_address_space(void)
{
	own_mount = kern_mount(&own_fs);
	if (IS_ERR(own_mount))
		return PTR_ERR(own_mount);
	own_inode = alloc_anon_inode(own_mount->mnt_sb);
	if (IS_ERR(own_inode)) {
		kern_unmount(own_mount);
		return PTR_ERR(own_inode);
	}
	return 0;
}

static void drop_address_space(void)
{
	iput(own_inode);
	kern_unmount(own_mount);
}

/* Such a kernel stops with a BUG when a slab page is mapped, or a mapped page is freed. */
static bool page_table_check_is_on(void)
{
#ifdef CONFIG_PAGE_TABLE_CHECK
	return !static_branch_likely(&page_table_check_disabled);
#else
	return false;
#endif
}

/* Module parameters can be written until after the module's end: whoever does so holds this lock. */
static void end_rechecks(void)
{
	struct workqueue_struct *ended = queue;

	kernel_param_lock(THIS_MODULE);
	queue = NULL;
	kernel_param_unlock(THIS_MODULE);
	cancel_delayed_work_sync(&recheck_work);
	destroy_workqueue(ended);
}

static int __init kwalk_init(void)
{
	int error;

	if (page_table_check_is_on()) {
		pr_err("this kernel checks user page tables, and forbids what kwalk does: boot without page_table_check\n");
		return -EOPNOTSUPP;
	}
	queue = alloc_workqueue("kwalk", WQ_UNBOUND, 1);
	if (!queue)
		return -ENOMEM;
	error = make_address_space();
	if (error)
		goto no_address_space;
	error = register_memory_notifier(&memory_block);
	if (error)
		goto no_notifier;
	error = misc_register(&kwalk_device);
	if (error)
		goto no_device;
	return 0;

no_device:
	unregister_memory_notifier(&memory_block);
no_notifier:
	drop_address_space();
no_address_space:
	end_rechecks();
	return error;
}

static void __exit kwalk_exit(void)
{
	misc_deregister(&kwalk_device);
	unregister_memory_notifier(&memory_block);
	end_rechecks();
	forget_all();
	drop_address_space();
}

module_init(kwalk_init);
module_exit(kwalk_exit);
MODULE_DESCRIPTION("The kernel's own memory, mapped read-only");
MODULE_LICENSE("GPL");
MODULE_VERSION("0.1.0");
