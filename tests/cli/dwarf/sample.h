/* What both files of the sample see. */
#include <stddef.h>
#include <stdint.h>

struct elsewhere; /* defined in other.c */

void other(void);

struct list { /* lies in a circle, as lists do */
	struct list *next, *prev;
};

enum colour { RED, GREEN = 7, BLUE = 0x80000000 };
enum below { MINUS = -3, ZERO = 0, BIG = 200 };
enum wide { WIDE = 0x123456789abcdef0, NARROW = 1 };

typedef unsigned int u32;
typedef struct {
	u32 counter;
} nameless;

struct bits {
	u32 a : 3, b : 29;
	uint8_t c : 1;
	uint64_t : 0;
	uint64_t d : 40, e : 24;
	signed int f : 7;
	_Bool g : 1;
} __attribute__((packed));

struct rq { /* a name that is too short for the section of strings */
	u32 nr;
};

struct inner_page {
	long first;
};

struct page { /* the end of another name */
	const volatile char *const restrict name;
	char text[16];
	int matrix[4][2][5];
	union {
		struct {
			short low, high;
		};
		int whole;
	};
	struct list list;
	struct elsewhere *elsewhere;
	int (*function)(const struct page *, u32, ...);
	nameless count;
	enum colour colour;
	enum below below;
	struct bits bits;
	struct rq rq;
	struct inner_page inner;
	_Bool yes;
	unsigned char byte;
	signed char sign;
	double real;
	__int128 huge;
	_Atomic int atomic;
	char flexible[];
};
