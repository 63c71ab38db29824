/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths of control groups. */
#ifndef KERNEL_CGROUP_H
#define KERNEL_CGROUP_H

#include "kernel/row.h"

#define KW_CSS_ONLINE 0x2u /* of cgroup_subsys_state.flags: a removed group is not */

/** Set the path of a group's folder, which is kept for as long as the run. */
void kw_cgroup_path(struct kw_row *row, uint64_t node, struct kw_value *out);

#endif
