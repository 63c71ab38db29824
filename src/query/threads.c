/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The threads of a process, for a query whose rows they are.
 *
 * On a target that changes, a thread, or all of them, may end while their list is followed, and the memory be another's:
 * there all are found before any is looked at, so that it can be done again.
 */
#include "memory/memory.h"
#include "query/query.h"
#include "util/array.h"

#define MAX_TRIES 3

struct walk {
	kw_query *q;
	void (*take)(kw_query *q, const struct kw_task_ref *thread);
	kw_status damage; /* of the walk under way */
};

/* Read what a thread is known by. KW_FORMAT: the list has run into another one, or the memory is no task's. */
static kw_status identify(const kw_query *q, uint64_t task, struct kw_task_ref *ret)
{
	const struct kw_task_layout *t = &q->kernel->task;
	uint32_t tid, tgid;

	*ret = (struct kw_task_ref){ .task = task };
	if (kw_read_u64(q->ctx, task + t->thread_pid, &ret->pid_struct) != KW_OK ||
	    kw_read_u32(q->ctx, task + t->pid, &tid) != KW_OK ||
	    kw_read_u32(q->ctx, task + t->tgid, &tgid) != KW_OK)
		return KW_ABSENT;
	ret->pid = (int32_t)tid;
	return (int32_t)tgid == q->leader_pid ? KW_OK : KW_FORMAT;
}

static bool take_thread(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct walk *w = arg;
	struct kw_task_ref ref;
	kw_status status = identify(w->q, task, &ref);

	(void)ctx;
	if (status)
		kw_query_damage(w->q, status);
	else if (!ref.pid_struct)
		w->q->counts.gone++;
	else
		w->take(w->q, &ref);
	return !w->q->stop;
}

static bool find_thread(kw_ctx *ctx, uint64_t task, void *arg)
{
	struct walk *w = arg;
	struct kw_task_ref ref;

	(void)ctx;
	w->damage = identify(w->q, task, &ref);
	if (w->damage)
		return false;
	if (!ref.pid_struct)
		w->q->counts.gone++;
	else if (!kw_array_push(&w->q->found, ref))
		w->q->failed = w->q->stop = true;
	return !w->q->stop;
}

/* Find all threads. False when the process has ended meanwhile. */
static bool find_all(struct walk *w, const struct kw_task_ref *leader)
{
	kw_query *q = w->q;
	kw_status status = KW_OK;

	for (int tries = 0; tries < MAX_TRIES; tries++) {
		q->found.nr = 0;
		w->damage = KW_OK;
		status = kw_threads_each(q->ctx, q->kernel, leader->task, find_thread, w);
		status = status ? status : w->damage;
		if (!status)
			return true;
		if (!kw_task_is_alive(q->ctx, q->kernel, leader) ||
		    kw_task_has_left_table(q->ctx, q->kernel, leader))
			return false;
		kw_pass_renew(q->ctx);
		q->counts.retried++;
	}
	kw_query_damage(q, status);
	return true;
}

void kw_query_each_thread(struct kw_query *q, const struct kw_task_ref *leader,
			  void (*take)(struct kw_query *q, const struct kw_task_ref *thread))
{
	struct walk w = { .q = q, .take = take };
	kw_status status;

	if (!q->kernel->is_live) {
		status = kw_threads_each(q->ctx, q->kernel, leader->task, take_thread, &w);
		if (status)
			kw_query_damage(q, status);
		return;
	}
	if (!find_all(&w, leader)) {
		q->counts.gone++;
		return;
	}
	for (size_t i = 0; i < q->found.nr && !q->stop; i++)
		take(q, &q->found.item[i]);
}
