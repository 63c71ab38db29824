/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The whole public API. */
#ifndef KWALK_KWALK_H
#define KWALK_KWALK_H

#include <kwalk/context.h>
#include <kwalk/field.h>
#include <kwalk/memory.h>
#include <kwalk/object.h>
#include <kwalk/output.h>
#include <kwalk/query.h>
#include <kwalk/script.h>
#include <kwalk/symbol.h>
#include <kwalk/target.h>
#include <kwalk/type.h>
#include <kwalk/value.h>

#endif
