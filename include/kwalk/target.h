/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Opening kernel memory: the live kernel's, a dump's, a guest's. */
#ifndef KWALK_TARGET_H
#define KWALK_TARGET_H

#include <kwalk/context.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Options of kw_open(); begins with its own size so that it can grow. Zeroed members mean the default. */
struct kw_open_options {
	size_t size;	     /**< sizeof(struct kw_open_options) */
	const char *symbols; /**< a vmlinux or System.map to take symbols (and types) from, or NULL */
	bool no_mmap;	     /**< never map: read with pread */
	bool once; /**< objects are looked at once and then closed: copy them with pread where that is cheaper than
				  mapping their pages (files on a disk); tables are mapped all the same */
	/** Called now and then while a compressed file is unpacked, or a pipe copied: how much of it has been, in bytes,
	 * and how long it is, 0 where that is not known; or NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg; /**< for progress() */
	/**
	 * Where types come from: "btf", "dwarf" (of the symbols' vmlinux, else of the kernel's debug file under
	 * /usr/lib/debug), or the path of a vmlinux with DWARF. NULL: BTF, and DWARF where there is none.
	 * KWALK_DEBUG_FOLDER in the environment names another folder than that.
	 */
	const char *types;
	bool debuginfod; /**< fetch the kernel's debug file from the servers that DEBUGINFOD_URLS names when it is wanted */
	bool force;	  /**< take symbols and types also from a file of another build: see kw_forced() */
	bool memory_only; /**< look for no kernel: kw_read_phys(), kw_segments() and kw_count_memory() work, and
				  nothing that needs to know one; for looking at a dump in which none can be found */
};

/**
 * Open a target.
 *
 * @param spec  "live" (or NULL), the path of a dump or RAM file, "-" for standard input, or "qemu:PID"; what a file is, is probed from its
 *              content. A target that can't be opened is an error: no other one is taken instead.
 * @param opts  options or NULL
 * @return KW_OK; KW_UNREADABLE, KW_DENIED, KW_FORMAT, KW_UNSUPPORTED or KW_NOMEM with kw_error() set, and then the
 *         context stays empty
 */
KW_API kw_status kw_open(kw_ctx *ctx, const char *spec, const struct kw_open_options *opts);

/**
 * Tell what is wrong with the whole of a target that could be opened all the same: it is cut short, or one file of a set.
 *
 * @return a text for people, without the target's name, that lives as long as the context; NULL when nothing is
 */
KW_API const char *kw_trouble(kw_ctx *ctx);

/**
 * Tell which file of another build is used since kw_open_options.force let it pass: what is shown may be wrong.
 *
 * @return a text for people that lives as long as the context; NULL when there is none
 */
KW_API const char *kw_forced(kw_ctx *ctx);

/** One line of kw_facts(): what was found and how. */
struct kw_fact {
	const char *topic; /**< "target", "kernel", "symbols", "types", "time": stable, for grouping */
	const char *name;  /**< e.g. "release" */
	char value[256];   /**< text for people, already sanitised */
	bool found;	   /**< false: value tells why there is none */
};

/**
 * Tell what the target is, where each part of the knowledge of it came from, and what each step cost.
 *
 * @param ret  set to an array that the caller frees with free()
 * @param nr   set to its length
 */
KW_API kw_status kw_facts(kw_ctx *ctx, struct kw_fact **ret, size_t *nr);

#ifdef __cplusplus
}
#endif

#endif
