/*
 * A program that tells the layout of its own types, as its compiler sees it: what its DWARF is compared with.
 *
 *     size TYPE BYTES
 *     member TYPE PATH BIT BITS    (BITS: of a bitfield, else 0)
 *     value ENUM NAME VALUE
 *     variable NAME BYTES TYPE
 */
#include "sample.h"

#include <stdio.h>
#include <string.h>

int plain_number;
struct page *page_pointer;
char some_text[33] = "text";
const struct list list_head = { NULL, NULL };
static unsigned long twice __attribute__((used)); /* other.c has another one */
static enum wide wide __attribute__((used)) = WIDE;
extern struct elsewhere everywhere;

static int everywhere_is(void)
{
	return (uintptr_t)&everywhere != 0;
}

#define SIZE(type)	     printf("size " #type " %zu\n", sizeof(type))
#define MEMBER(type, member) printf("member " #type " " #member " %zu 0\n", 8 * offsetof(type, member))
#define VALUE(type, name)    printf("value " #type " " #name " %lld\n", (long long)(enum type)name)
#define VARIABLE(name, text) printf("variable " #name " %zu %s\n", sizeof(name), text)

/* Where the ones are in bytes that were zeros but for a bitfield: first and number. */
static void put_bits(const char *type, const char *member, const void *bytes, size_t size)
{
	size_t first = 0, nr = 0;

	for (size_t bit = 0; bit < size * 8; bit++) {
		if (!(((const unsigned char *)bytes)[bit / 8] >> bit % 8 & 1))
			continue;
		first = nr++ ? first : bit;
	}
	printf("member %s %s %zu %zu\n", type, member, first, nr);
}

#define BITS(type, member)                                         \
	do {                                                       \
		type object;                                       \
		memset(&object, 0, sizeof(object));                \
		object.member = -1;                                \
		put_bits(#type, #member, &object, sizeof(object)); \
	} while (0)

int main(void)
{
	SIZE(struct page);
	SIZE(struct bits);
	SIZE(struct list);
	SIZE(struct rq);
	SIZE(nameless);
	SIZE(u32);
	SIZE(long);
	SIZE(unsigned long);
	SIZE(enum wide);
	MEMBER(struct page, name);
	MEMBER(struct page, text);
	MEMBER(struct page, text[3]);
	MEMBER(struct page, matrix);
	MEMBER(struct page, matrix[1]);
	MEMBER(struct page, matrix[3][1][4]);
	MEMBER(struct page, low);
	MEMBER(struct page, high);
	MEMBER(struct page, whole);
	MEMBER(struct page, list.prev);
	MEMBER(struct page, elsewhere);
	MEMBER(struct page, function);
	MEMBER(struct page, count.counter);
	MEMBER(struct page, colour);
	MEMBER(struct page, below);
	MEMBER(struct page, rq.nr);
	MEMBER(struct page, inner.first);
	MEMBER(struct page, yes);
	MEMBER(struct page, byte);
	MEMBER(struct page, sign);
	MEMBER(struct page, real);
	MEMBER(struct page, huge);
	MEMBER(struct page, atomic);
	MEMBER(struct page, flexible);
	BITS(struct bits, a);
	BITS(struct bits, b);
	BITS(struct bits, c);
	BITS(struct bits, d);
	BITS(struct bits, e);
	BITS(struct bits, f);
	BITS(struct bits, g);
	VALUE(colour, RED);
	VALUE(colour, GREEN);
	VALUE(colour, BLUE);
	VALUE(below, MINUS);
	VALUE(below, BIG);
	VALUE(wide, WIDE);
	VALUE(wide, NARROW);
	VARIABLE(plain_number, "int");
	VARIABLE(page_pointer, "struct page *");
	VARIABLE(some_text, "char[33]");
	VARIABLE(list_head, "const struct list");
	VARIABLE(twice, sizeof(long) == sizeof(twice) ? "unsigned long" : "");
	VARIABLE(wide, "enum wide");
	other();
	return !everywhere_is();
}
