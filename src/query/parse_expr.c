/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parsing expressions. From what binds least to what binds most:
 *
 *     a ? b : c
 *     or
 *     and
 *     not
 *     == != < <= > >= ~ !~ like, in (...), is absent     (once: a < b < c is a mistake)
 *     |
 *     &
 *     << >>
 *     + -
 *     * / %
 *     - * (TYPE)
 *     .member ->member [index]
 */
#include <ctype.h>
#include <string.h>

#include "query/parser.h"

static struct kw_node *new_node(struct kw_parser *p, enum kw_node_kind kind, const char *at)
{
	struct kw_node *node;

	if (p->failed)
		return NULL;
	if (p->nodes++ == KW_SYNTAX_MAX_NODES) {
		kw_parser_fail(p, at, "the program is too long: more than %d parts of expressions",
			       KW_SYNTAX_MAX_NODES);
		return NULL;
	}
	node = kw_parser_new(p, sizeof(*node));
	if (node) {
		node->kind = kind;
		node->at = node->first = at;
	}
	return node;
}

static unsigned int height_of(const struct kw_node *list)
{
	unsigned int height = 0;

	for (; list; list = list->next)
		height = list->height > height ? list->height : height;
	return height;
}

/* Note how much of the text a node was made of, and how high the tree has become: chains count as well. */
static struct kw_node *end_node(struct kw_parser *p, struct kw_node *node)
{
	unsigned int a, b, c;

	if (p->failed || !node)
		return NULL;
	a = height_of(node->a);
	b = height_of(node->b);
	c = height_of(node->c);
	node->height = 1 + (a > b ? (a > c ? a : c) : (b > c ? b : c));
	if (node->height > KW_SYNTAX_MAX_HEIGHT) {
		kw_parser_fail(p, node->at, "the expression is too long: more than %d operators in a row",
			       KW_SYNTAX_MAX_HEIGHT);
		return NULL;
	}
	node->len = (size_t)(p->end - node->first);
	return node;
}

static struct kw_node *number(struct kw_parser *p)
{
	struct kw_node *node = new_node(p, KW_NODE_NUMBER, p->token.at);

	if (!node)
		return NULL;
	node->unit = p->token.unit;
	node->is_float = p->token.is_float;
	if (node->is_float)
		node->f = p->token.f;
	else
		node->u = p->token.u;
	kw_parser_advance(p);
	return end_node(p, node);
}

static struct kw_node *string(struct kw_parser *p)
{
	struct kw_node *node = new_node(p, KW_NODE_STRING, p->token.at);
	char *text = node ? kw_parser_new(p, p->token.len) : NULL;

	if (!text)
		return NULL;
	node->text_len = kw_token_string(&p->token, text);
	node->text = text;
	kw_parser_advance(p);
	return end_node(p, node);
}

/* Parts of a path behind its first name, up to where it ends in the text: they are one word to whoever binds them. */
static bool take_index(struct kw_parser *p)
{
	unsigned int depth = 0;

	do {
		if (p->token.kind == KW_TOKEN_END || p->token.kind == KW_TOKEN_STRING) {
			kw_parser_expected(p, "]");
			return false;
		}
		depth += kw_parser_at_mark(p, '[');
		depth -= kw_parser_at_mark(p, ']');
		kw_parser_advance(p);
	} while (!p->failed && depth);
	return !p->failed;
}

static bool take_path(struct kw_parser *p)
{
	while (!p->failed && !p->token.first_on_line) {
		if (kw_parser_at_mark(p, '[') && p->token.glued) {
			if (!take_index(p))
				return false;
		} else if (kw_parser_at_mark(p, '.') || kw_parser_at_mark(p, KW_MARK_ARROW)) {
			kw_parser_advance(p);
			if (p->token.kind != KW_TOKEN_NAME) {
				kw_parser_expected(p, "a member's name");
				return false;
			}
			kw_parser_advance(p);
		} else {
			break;
		}
	}
	return !p->failed;
}

/* The text from `from` to the last token taken, without blanks. */
static void set_text(struct kw_parser *p, struct kw_node *node, const char *from)
{
	size_t len = (size_t)(p->end - from), kept = 0;
	char *text = kw_parser_new(p, len + 1);

	for (size_t i = 0; text && i < len; i++)
		if (!isspace((unsigned char)from[i]))
			text[kept++] = from[i];
	node->text = text;
	node->text_len = kept;
}

static bool is_aggregate(const char *name)
{
	static const char *const names[] = { "count", "sum", "min", "max", "avg", "p50", "p99" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static struct kw_node *call(struct kw_parser *p, struct kw_node *node)
{
	struct kw_node **end = &node->a;

	node->kind = KW_NODE_CALL;
	kw_parser_advance(p);
	if (!p->in_rows && is_aggregate(node->text)) {
		node->query = kw_parse_query(p);
	} else {
		while (!p->failed && !kw_parser_at_mark(p, ')')) {
			*end = kw_parse_argument(p);
			if (!*end)
				return NULL;
			end = &(*end)->next;
			if (!kw_parser_take_mark(p, ','))
				break;
		}
	}
	if (!kw_parser_take_mark(p, ')')) {
		kw_parser_expected(p, node->query ? ")" : ", or )");
		return NULL;
	}
	return end_node(p, node);
}

static struct kw_node *name(struct kw_parser *p)
{
	const char *from = p->token.at;
	struct kw_node *node = new_node(p, KW_NODE_NAME, from);

	if (!node)
		return NULL;
	if (kw_token_is(&p->token, "true") || kw_token_is(&p->token, "false")) {
		node->kind = KW_NODE_BOOL;
		node->u = kw_token_is(&p->token, "true");
		kw_parser_advance(p);
		return end_node(p, node);
	}
	if (kw_token_is(&p->token, "absent")) {
		node->kind = KW_NODE_ABSENT;
		kw_parser_advance(p);
		return end_node(p, node);
	}
	kw_parser_advance(p);
	if (kw_parser_at_mark(p, '(') && p->token.glued) {
		set_text(p, node, from);
		return node->text ? call(p, node) : NULL;
	}
	if (!take_path(p))
		return NULL;
	set_text(p, node, from);
	return end_node(p, node);
}

static struct kw_node *symbol(struct kw_parser *p)
{
	struct kw_node *node = new_node(p, KW_NODE_SYMBOL, p->token.at);
	const char *from;

	kw_parser_advance(p);
	if (!node || p->failed)
		return NULL;
	if (p->token.kind != KW_TOKEN_NAME) {
		kw_parser_expected(p, "a symbol's name behind &");
		return NULL;
	}
	from = p->token.at;
	kw_parser_advance(p);
	if (!take_path(p))
		return NULL;
	set_text(p, node, from);
	return end_node(p, node);
}

/* "struct NAME" and what else is a type's name in a cast, with its stars. */
static bool at_type(const struct kw_parser *p)
{
	return kw_token_is(&p->token, "struct") || kw_token_is(&p->token, "union") ||
	       kw_token_is(&p->token, "enum") || kw_token_is(&p->token, "unsigned") ||
	       kw_token_is(&p->token, "signed");
}

/* The words of a type, one blank between them. */
static void take_type(struct kw_parser *p, struct kw_node *node)
{
	char text[256];
	size_t len = 0;

	while (!p->failed && (p->token.kind == KW_TOKEN_NAME || kw_parser_at_mark(p, '*'))) {
		if (len + p->token.len + 2 > sizeof(text)) {
			kw_parser_fail(p, node->at, "the name of the type is too long");
			return;
		}
		if (len)
			text[len++] = ' ';
		memcpy(text + len, p->token.at, p->token.len);
		len += p->token.len;
		kw_parser_advance(p);
	}
	node->text = kw_parser_copy(p, text, len);
	node->text_len = len;
}

/* Words that are types by themselves. */
static bool at_type_word(const struct kw_parser *p)
{
	static const char *const words[] = { "u8",  "u16",  "u32",   "u64",  "s8",   "s16",    "s32", "s64",
					     "int", "char", "short", "long", "bool", "size_t", "void" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (kw_token_is(&p->token, words[i]))
			return true;
	return false;
}

/* At a parenthesis: whether a cast begins here. (NAME *) can be nothing else. */
static bool at_cast(const struct kw_parser *p)
{
	struct kw_parser ahead = *p;
	bool is_type;

	kw_parser_advance(&ahead);
	is_type = at_type(&ahead) || at_type_word(&ahead);
	while (!ahead.failed && ahead.token.kind == KW_TOKEN_NAME)
		kw_parser_advance(&ahead);
	if (is_type || !kw_parser_at_mark(&ahead, '*'))
		return is_type;
	while (kw_parser_at_mark(&ahead, '*'))
		kw_parser_advance(&ahead);
	return kw_parser_at_mark(&ahead, ')');
}

static struct kw_node *unary(struct kw_parser *p);

static struct kw_node *parenthesis(struct kw_parser *p)
{
	const char *from = p->token.at;
	bool is_cast = at_cast(p);
	struct kw_node *node;

	if (!kw_parser_enter(p))
		return NULL;
	kw_parser_advance(p);
	if (is_cast) {
		node = new_node(p, KW_NODE_CAST, from);
		if (node)
			take_type(p, node);
		if (!kw_parser_take_mark(p, ')'))
			kw_parser_expected(p, ") behind the type");
		if (!p->failed)
			node->a = unary(p);
	} else {
		node = kw_parse_expr(p);
		if (node && !kw_parser_take_mark(p, ')'))
			kw_parser_expected(p, ")");
	}
	kw_parser_leave(p);
	if (p->failed)
		return NULL;
	/* The parentheses are part of it: the heading of the column shows them. */
	node->first = from;
	return end_node(p, node);
}

/* Words that are never a name: one that stands where a value is due is a value left out. */
static bool is_reserved(const struct kw_token *token)
{
	static const char *const words[] = { "where", "select", "group", "by",	"sort", "limit", "distinct",
					     "as",    "and",	"or",	 "not", "in",	"is",	 "like" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (kw_token_is(token, words[i]))
			return true;
	return false;
}

static struct kw_node *primary(struct kw_parser *p)
{
	switch (p->failed ? KW_TOKEN_WRONG : p->token.kind) {
	case KW_TOKEN_NUMBER: return number(p);
	case KW_TOKEN_STRING: return string(p);
	case KW_TOKEN_NAME:
		if (!is_reserved(&p->token))
			return name(p);
		break;
	case KW_TOKEN_MARK:
		if (p->token.mark == '(')
			return parenthesis(p);
		if (p->token.mark == '&')
			return symbol(p);
		break;
	default: break;
	}
	kw_parser_expected(p, "a value: a name, a number, a text or (");
	return NULL;
}

struct kw_node *kw_parse_key(struct kw_parser *p)
{
	struct kw_node *node = primary(p), *member;
	const char *from;

	if (!node || p->token.first_on_line ||
	    (!kw_parser_at_mark(p, '.') && !kw_parser_at_mark(p, KW_MARK_ARROW) &&
	     !(kw_parser_at_mark(p, '[') && p->token.glued)))
		return node;
	from = p->token.at;
	member = new_node(p, KW_NODE_MEMBER, from);
	if (!member || !take_path(p))
		return NULL;
	member->first = node->first;
	member->a = node;
	set_text(p, member, from);
	return end_node(p, member);
}

static struct kw_node *unary(struct kw_parser *p)
{
	struct kw_node *node;

	if (!kw_parser_at_mark(p, '-') && !kw_parser_at_mark(p, '*'))
		return kw_parse_key(p);
	node = new_node(p, KW_NODE_UNARY, p->token.at);
	if (!node || !kw_parser_enter(p))
		return NULL;
	node->op = p->token.mark;
	kw_parser_advance(p);
	node->a = unary(p);
	kw_parser_leave(p);
	return end_node(p, node);
}

static struct kw_node *join(struct kw_parser *p, int op, const char *at, struct kw_node *a, struct kw_node *b)
{
	struct kw_node *node = a && b ? new_node(p, KW_NODE_BINARY, at) : NULL;

	if (!node)
		return NULL;
	node->first = a->first;
	node->op = op;
	node->a = a;
	node->b = b;
	return end_node(p, node);
}

static const int levels[][3] = {
	{ '|' }, { '&' }, { KW_MARK_SHL, KW_MARK_SHR }, { '+', '-' }, { '*', '/', '%' }
};

#define NR_LEVELS (sizeof(levels) / sizeof(levels[0]))

static struct kw_node *arithmetic(struct kw_parser *p, size_t level)
{
	struct kw_node *node = level == NR_LEVELS ? unary(p) : arithmetic(p, level + 1);

	while (node && level < NR_LEVELS && p->token.kind == KW_TOKEN_MARK) {
		int op = p->token.mark;
		const char *at = p->token.at;

		if (op != levels[level][0] && op != levels[level][1] && op != levels[level][2])
			break;
		kw_parser_advance(p);
		node = join(p, op, at, node, arithmetic(p, level + 1));
	}
	return node;
}

static struct kw_node *membership(struct kw_parser *p, struct kw_node *left, const char *at)
{
	struct kw_node *node = new_node(p, KW_NODE_IN, at), **end;
	unsigned int nr = 0;

	if (!node)
		return NULL;
	node->first = left->first;
	node->a = left;
	if (!kw_parser_take_mark(p, '(')) {
		kw_parser_expected(p, "( and a list behind \"in\"");
		return NULL;
	}
	end = &node->b;
	do {
		*end = arithmetic(p, 0);
		if (!*end)
			return NULL;
		end = &(*end)->next;
		if (++nr > 1000) {
			kw_parser_fail(p, at, "more than 1000 elements in the list");
			return NULL;
		}
	} while (kw_parser_take_mark(p, ','));
	if (!kw_parser_take_mark(p, ')')) {
		kw_parser_expected(p, ", or )");
		return NULL;
	}
	return end_node(p, node);
}

static struct kw_node *negate(struct kw_parser *p, struct kw_node *node, bool wanted, const char *at)
{
	struct kw_node *not = node && wanted ? new_node(p, KW_NODE_UNARY, at) : NULL;

	if (!wanted)
		return node;
	if (!not )
		return NULL;
	not ->first = node->first;
	not ->op = KW_OP_NOT;
	not ->a = node;
	return end_node(p, not );
}

static struct kw_node *absence(struct kw_parser *p, struct kw_node *left, const char *at)
{
	struct kw_node *node = new_node(p, KW_NODE_IS_ABSENT, at);
	bool negated = kw_parser_take_word(p, "not");

	if (!node)
		return NULL;
	if (!kw_parser_take_word(p, "absent")) {
		kw_parser_expected(p, "\"absent\" or \"not absent\" behind \"is\"");
		return NULL;
	}
	node->first = left->first;
	node->a = left;
	return negate(p, end_node(p, node), negated, at);
}

static bool at_comparison(const struct kw_parser *p)
{
	static const int ops[] = { KW_MARK_EQ, KW_MARK_NE, '<', KW_MARK_LE,
				   '>',	       KW_MARK_GE, '~', KW_MARK_NO_MATCH };

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (kw_parser_at_mark(p, ops[i]))
			return true;
	return false;
}

static struct kw_node *compare(struct kw_parser *p, struct kw_node *left)
{
	const char *at = p->token.at;
	int op = p->token.mark;

	kw_parser_advance(p);
	if (op != KW_MARK_NO_MATCH)
		return join(p, op, at, left, arithmetic(p, 0));
	return negate(p, join(p, '~', at, left, arithmetic(p, 0)), true, at);
}

static struct kw_node *comparison(struct kw_parser *p)
{
	struct kw_node *left = arithmetic(p, 0);
	const char *at = p->token.at;
	bool negated;

	if (!left)
		return NULL;
	if (kw_parser_at_mark(p, '='))
		kw_parser_fail(p, at, "to compare, write == (= gives a name a value in let and param)");
	if (at_comparison(p)) {
		left = compare(p, left);
		if (left && at_comparison(p))
			kw_parser_fail(p, p->token.at,
				       "comparisons can't be chained; join them with \"and\"");
		return p->failed ? NULL : left;
	}
	if (kw_parser_take_word(p, "is"))
		return absence(p, left, at);
	negated = kw_token_is(&p->token, "not") && !p->token.first_on_line;
	if (negated)
		kw_parser_advance(p);
	if (kw_parser_take_word(p, "in"))
		return negate(p, membership(p, left, at), negated, at);
	if (kw_parser_take_word(p, "like"))
		return negate(p, join(p, KW_OP_LIKE, at, left, arithmetic(p, 0)), negated, at);
	if (negated)
		kw_parser_expected(p, "\"in\" or \"like\" behind \"not\"");
	return p->failed ? NULL : left;
}

static struct kw_node *negation(struct kw_parser *p)
{
	const char *at = p->token.at;
	struct kw_node *node;

	if (kw_parser_at_mark(p, '!')) {
		kw_parser_fail(p, at, "to negate, write \"not\"");
		return NULL;
	}
	if (!kw_parser_take_word(p, "not"))
		return comparison(p);
	if (!kw_parser_enter(p))
		return NULL;
	node = negation(p);
	kw_parser_leave(p);
	node = negate(p, node, true, at);
	if (node)
		node->first = at;
	return end_node(p, node);
}

static struct kw_node *conjunction(struct kw_parser *p)
{
	struct kw_node *node = negation(p);

	while (node) {
		const char *at = p->token.at;

		if (kw_parser_at_mark(p, KW_MARK_AND))
			kw_parser_fail(p, at, "write \"and\" instead of &&");
		if (!kw_parser_take_word(p, "and"))
			break;
		node = join(p, KW_OP_AND, at, node, negation(p));
	}
	return p->failed ? NULL : node;
}

static struct kw_node *disjunction(struct kw_parser *p)
{
	struct kw_node *node = conjunction(p);

	while (node) {
		const char *at = p->token.at;

		if (kw_parser_at_mark(p, KW_MARK_OR))
			kw_parser_fail(p, at, "write \"or\" instead of ||");
		if (!kw_parser_take_word(p, "or"))
			break;
		node = join(p, KW_OP_OR, at, node, conjunction(p));
	}
	return p->failed ? NULL : node;
}

static struct kw_node *conditional(struct kw_parser *p, struct kw_node *condition)
{
	struct kw_node *node = new_node(p, KW_NODE_COND, p->token.at);

	if (!node)
		return NULL;
	kw_parser_advance(p);
	node->first = condition->first;
	node->a = condition;
	node->b = kw_parse_expr(p);
	if (!kw_parser_take_mark(p, ':')) {
		kw_parser_expected(p, ": and the other value of a ? b : c");
		return NULL;
	}
	node->c = kw_parse_expr(p);
	return end_node(p, node);
}

struct kw_node *kw_parse_expr(struct kw_parser *p)
{
	struct kw_node *node;

	if (p->failed || !kw_parser_enter(p))
		return NULL;
	node = disjunction(p);
	if (node && kw_parser_at_mark(p, '?'))
		node = conditional(p, node);
	kw_parser_leave(p);
	return p->failed ? NULL : node;
}

struct kw_node *kw_parse_argument(struct kw_parser *p)
{
	struct kw_node *node;

	if (!at_type(p))
		return kw_parse_expr(p);
	node = new_node(p, KW_NODE_NAME, p->token.at);
	if (node)
		take_type(p, node);
	return end_node(p, node);
}

/* Equality */

static bool lists_equal(const struct kw_node *a, const struct kw_node *b)
{
	for (; a && b; a = a->next, b = b->next)
		if (!kw_nodes_equal(a, b))
			return false;
	return a == b;
}

bool kw_nodes_equal(const struct kw_node *a, const struct kw_node *b)
{
	if (!a || !b)
		return a == b;
	if (a->kind != b->kind || a->op != b->op || a->u != b->u || a->unit != b->unit ||
	    a->is_float != b->is_float || a->text_len != b->text_len || a->query || b->query)
		return false;
	if (a->text_len && memcmp(a->text, b->text, a->text_len) != 0)
		return false;
	return lists_equal(a->a, b->a) && lists_equal(a->b, b->b) && kw_nodes_equal(a->c, b->c);
}
