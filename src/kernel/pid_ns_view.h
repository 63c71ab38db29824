/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Processes as a PID namespace sees them: only those in it or in one below, under the numbers that they have there.
 *
 * A struct pid has a number in each of its namespaces, by level: numbers[level] = { nr, ns }. The namespace's own table,
 * pid_namespace.idr, has all that it sees.
 */
#ifndef KERNEL_PID_NS_VIEW_H
#define KERNEL_PID_NS_VIEW_H

#include "kernel/source.h"

/** A namespace, and how deep it lies. */
struct kw_pid_ns {
	uint64_t address; /* of struct pid_namespace */
	uint32_t level;	  /* 0: the initial one */
};

/**
 * Find the namespace that a process is in.
 *
 * @return KW_OK; KW_NOTFOUND when there is no such process, or KW_UNSUPPORTED when this kernel is not known well enough; a
 *         read's state, or KW_FORMAT; without a message
 */
kw_status kw_pid_ns_of(kw_ctx *ctx, const struct kw_kernel *kernel, int32_t pid, struct kw_pid_ns *ret);

/** Fields that have another value in a namespace: bound instead of those of the same names. They use row->pid_ns. */
extern const struct kw_field_table kw_pid_ns_view_fields;

#endif
