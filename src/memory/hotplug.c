/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Freeing what hotplug found: see the header. Finding is kcore.c's. */
#include "memory/hotplug.h"

#include <stdlib.h>

void hotplug_free(struct hotplug *hotplug)
{
	struct later_segments *later = hotplug->later, *older;

	for (; later; later = older) {
		older = later->older;
		segments_free(&later->virt);
		segments_free(&later->phys);
		segments_free(&later->listed);
		free(later);
	}
	pthread_mutex_destroy(&hotplug->lock);
}
