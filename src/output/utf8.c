/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * UTF-8 and the widths of characters.
 *
 * The table holds every range of Unicode 14 from U+00A0 on that is not one cell wide:
 *   E  escaped: general categories Cf, Zl, Zp
 *   Z  zero wide: Mn, Me and the vowels and finals of Hangul, which join the consonant before them
 *   W  two wide: East Asian width W and F
 * Unassigned code points belong to the range around them, else they are one cell wide. To renew the table, print
 * these classes with Python's unicodedata.
 */
#include "output/utf8.h"

struct range {
	uint32_t first, last;
	int width;
};

/* clang-format off */
#define E(first, last) { 0x##first, 0x##last, -1 }
#define Z(first, last) { 0x##first, 0x##last, 0 }
#define W(first, last) { 0x##first, 0x##last, 2 }
static const struct range ranges[] = {
	E(ad, ad), Z(300, 36f), Z(483, 489), Z(591, 5bd), Z(5bf, 5bf), Z(5c1, 5c2), Z(5c4, 5c5), Z(5c7, 5c7),
	E(600, 605), Z(610, 61a), E(61c, 61c), Z(64b, 65f), Z(670, 670), Z(6d6, 6dc), E(6dd, 6dd),
	Z(6df, 6e4), Z(6e7, 6e8), Z(6ea, 6ed), E(70f, 70f), Z(711, 711), Z(730, 74a), Z(7a6, 7b0),
	Z(7eb, 7f3), Z(7fd, 7fd), Z(816, 819), Z(81b, 823), Z(825, 827), Z(829, 82d), Z(859, 85b),
	E(890, 891), Z(898, 89f), Z(8ca, 8e1), E(8e2, 8e2), Z(8e3, 902), Z(93a, 93a), Z(93c, 93c),
	Z(941, 948), Z(94d, 94d), Z(951, 957), Z(962, 963), Z(981, 981), Z(9bc, 9bc), Z(9c1, 9c4),
	Z(9cd, 9cd), Z(9e2, 9e3), Z(9fe, a02), Z(a3c, a3c), Z(a41, a51), Z(a70, a71), Z(a75, a75),
	Z(a81, a82), Z(abc, abc), Z(ac1, ac8), Z(acd, acd), Z(ae2, ae3), Z(afa, b01), Z(b3c, b3c),
	Z(b3f, b3f), Z(b41, b44), Z(b4d, b56), Z(b62, b63), Z(b82, b82), Z(bc0, bc0), Z(bcd, bcd),
	Z(c00, c00), Z(c04, c04), Z(c3c, c3c), Z(c3e, c40), Z(c46, c56), Z(c62, c63), Z(c81, c81),
	Z(cbc, cbc), Z(cbf, cbf), Z(cc6, cc6), Z(ccc, ccd), Z(ce2, ce3), Z(d00, d01), Z(d3b, d3c),
	Z(d41, d44), Z(d4d, d4d), Z(d62, d63), Z(d81, d81), Z(dca, dca), Z(dd2, dd6), Z(e31, e31),
	Z(e34, e3a), Z(e47, e4e), Z(eb1, eb1), Z(eb4, ebc), Z(ec8, ecd), Z(f18, f19), Z(f35, f35),
	Z(f37, f37), Z(f39, f39), Z(f71, f7e), Z(f80, f84), Z(f86, f87), Z(f8d, fbc), Z(fc6, fc6),
	Z(102d, 1030), Z(1032, 1037), Z(1039, 103a), Z(103d, 103e), Z(1058, 1059), Z(105e, 1060),
	Z(1071, 1074), Z(1082, 1082), Z(1085, 1086), Z(108d, 108d), Z(109d, 109d), W(1100, 115f),
	Z(1160, 11ff), Z(135d, 135f), Z(1712, 1714), Z(1732, 1733), Z(1752, 1753), Z(1772, 1773),
	Z(17b4, 17b5), Z(17b7, 17bd), Z(17c6, 17c6), Z(17c9, 17d3), Z(17dd, 17dd), Z(180b, 180d),
	E(180e, 180e), Z(180f, 180f), Z(1885, 1886), Z(18a9, 18a9), Z(1920, 1922), Z(1927, 1928),
	Z(1932, 1932), Z(1939, 193b), Z(1a17, 1a18), Z(1a1b, 1a1b), Z(1a56, 1a56), Z(1a58, 1a60),
	Z(1a62, 1a62), Z(1a65, 1a6c), Z(1a73, 1a7f), Z(1ab0, 1b03), Z(1b34, 1b34), Z(1b36, 1b3a),
	Z(1b3c, 1b3c), Z(1b42, 1b42), Z(1b6b, 1b73), Z(1b80, 1b81), Z(1ba2, 1ba5), Z(1ba8, 1ba9),
	Z(1bab, 1bad), Z(1be6, 1be6), Z(1be8, 1be9), Z(1bed, 1bed), Z(1bef, 1bf1), Z(1c2c, 1c33),
	Z(1c36, 1c37), Z(1cd0, 1cd2), Z(1cd4, 1ce0), Z(1ce2, 1ce8), Z(1ced, 1ced), Z(1cf4, 1cf4),
	Z(1cf8, 1cf9), Z(1dc0, 1dff), E(200b, 200f), E(2028, 202e), E(2060, 206f), Z(20d0, 20f0),
	W(231a, 231b), W(2329, 232a), W(23e9, 23ec), W(23f0, 23f0), W(23f3, 23f3), W(25fd, 25fe),
	W(2614, 2615), W(2648, 2653), W(267f, 267f), W(2693, 2693), W(26a1, 26a1), W(26aa, 26ab),
	W(26bd, 26be), W(26c4, 26c5), W(26ce, 26ce), W(26d4, 26d4), W(26ea, 26ea), W(26f2, 26f3),
	W(26f5, 26f5), W(26fa, 26fa), W(26fd, 26fd), W(2705, 2705), W(270a, 270b), W(2728, 2728),
	W(274c, 274c), W(274e, 274e), W(2753, 2755), W(2757, 2757), W(2795, 2797), W(27b0, 27b0),
	W(27bf, 27bf), W(2b1b, 2b1c), W(2b50, 2b50), W(2b55, 2b55), Z(2cef, 2cf1), Z(2d7f, 2d7f),
	Z(2de0, 2dff), W(2e80, 3029), Z(302a, 302d), W(302e, 303e), W(3041, 3096), Z(3099, 309a),
	W(309b, 3247), W(3250, 4dbf), W(4e00, a4c6), Z(a66f, a672), Z(a674, a67d), Z(a69e, a69f),
	Z(a6f0, a6f1), Z(a802, a802), Z(a806, a806), Z(a80b, a80b), Z(a825, a826), Z(a82c, a82c),
	Z(a8c4, a8c5), Z(a8e0, a8f1), Z(a8ff, a8ff), Z(a926, a92d), Z(a947, a951), W(a960, a97c),
	Z(a980, a982), Z(a9b3, a9b3), Z(a9b6, a9b9), Z(a9bc, a9bd), Z(a9e5, a9e5), Z(aa29, aa2e),
	Z(aa31, aa32), Z(aa35, aa36), Z(aa43, aa43), Z(aa4c, aa4c), Z(aa7c, aa7c), Z(aab0, aab0),
	Z(aab2, aab4), Z(aab7, aab8), Z(aabe, aabf), Z(aac1, aac1), Z(aaec, aaed), Z(aaf6, aaf6),
	Z(abe5, abe5), Z(abe8, abe8), Z(abed, abed), W(ac00, d7a3), W(f900, fad9), Z(fb1e, fb1e),
	Z(fe00, fe0f), W(fe10, fe19), Z(fe20, fe2f), W(fe30, fe6b), E(feff, feff), W(ff01, ff60),
	W(ffe0, ffe6), E(fff9, fffb), Z(101fd, 101fd), Z(102e0, 102e0), Z(10376, 1037a), Z(10a01, 10a0f),
	Z(10a38, 10a3f), Z(10ae5, 10ae6), Z(10d24, 10d27), Z(10eab, 10eac), Z(10f46, 10f50), Z(10f82, 10f85),
	Z(11001, 11001), Z(11038, 11046), Z(11070, 11070), Z(11073, 11074), Z(1107f, 11081), Z(110b3, 110b6),
	Z(110b9, 110ba), E(110bd, 110bd), Z(110c2, 110c2), E(110cd, 110cd), Z(11100, 11102), Z(11127, 1112b),
	Z(1112d, 11134), Z(11173, 11173), Z(11180, 11181), Z(111b6, 111be), Z(111c9, 111cc), Z(111cf, 111cf),
	Z(1122f, 11231), Z(11234, 11234), Z(11236, 11237), Z(1123e, 1123e), Z(112df, 112df), Z(112e3, 112ea),
	Z(11300, 11301), Z(1133b, 1133c), Z(11340, 11340), Z(11366, 11374), Z(11438, 1143f), Z(11442, 11444),
	Z(11446, 11446), Z(1145e, 1145e), Z(114b3, 114b8), Z(114ba, 114ba), Z(114bf, 114c0), Z(114c2, 114c3),
	Z(115b2, 115b5), Z(115bc, 115bd), Z(115bf, 115c0), Z(115dc, 115dd), Z(11633, 1163a), Z(1163d, 1163d),
	Z(1163f, 11640), Z(116ab, 116ab), Z(116ad, 116ad), Z(116b0, 116b5), Z(116b7, 116b7), Z(1171d, 1171f),
	Z(11722, 11725), Z(11727, 1172b), Z(1182f, 11837), Z(11839, 1183a), Z(1193b, 1193c), Z(1193e, 1193e),
	Z(11943, 11943), Z(119d4, 119db), Z(119e0, 119e0), Z(11a01, 11a0a), Z(11a33, 11a38), Z(11a3b, 11a3e),
	Z(11a47, 11a47), Z(11a51, 11a56), Z(11a59, 11a5b), Z(11a8a, 11a96), Z(11a98, 11a99), Z(11c30, 11c3d),
	Z(11c3f, 11c3f), Z(11c92, 11ca7), Z(11caa, 11cb0), Z(11cb2, 11cb3), Z(11cb5, 11cb6), Z(11d31, 11d45),
	Z(11d47, 11d47), Z(11d90, 11d91), Z(11d95, 11d95), Z(11d97, 11d97), Z(11ef3, 11ef4), E(13430, 13438),
	Z(16af0, 16af4), Z(16b30, 16b36), Z(16f4f, 16f4f), Z(16f8f, 16f92), W(16fe0, 16fe3), Z(16fe4, 16fe4),
	W(16ff0, 1b2fb), Z(1bc9d, 1bc9e), E(1bca0, 1bca3), Z(1cf00, 1cf46), Z(1d167, 1d169), E(1d173, 1d17a),
	Z(1d17b, 1d182), Z(1d185, 1d18b), Z(1d1aa, 1d1ad), Z(1d242, 1d244), Z(1da00, 1da36), Z(1da3b, 1da6c),
	Z(1da75, 1da75), Z(1da84, 1da84), Z(1da9b, 1daaf), Z(1e000, 1e02a), Z(1e130, 1e136), Z(1e2ae, 1e2ae),
	Z(1e2ec, 1e2ef), Z(1e8d0, 1e8d6), Z(1e944, 1e94a), W(1f004, 1f004), W(1f0cf, 1f0cf), W(1f18e, 1f18e),
	W(1f191, 1f19a), W(1f200, 1f320), W(1f32d, 1f335), W(1f337, 1f37c), W(1f37e, 1f393), W(1f3a0, 1f3ca),
	W(1f3cf, 1f3d3), W(1f3e0, 1f3f0), W(1f3f4, 1f3f4), W(1f3f8, 1f43e), W(1f440, 1f440), W(1f442, 1f4fc),
	W(1f4ff, 1f53d), W(1f54b, 1f54e), W(1f550, 1f567), W(1f57a, 1f57a), W(1f595, 1f596), W(1f5a4, 1f5a4),
	W(1f5fb, 1f64f), W(1f680, 1f6c5), W(1f6cc, 1f6cc), W(1f6d0, 1f6d2), W(1f6d5, 1f6df), W(1f6eb, 1f6ec),
	W(1f6f4, 1f6fc), W(1f7e0, 1f7f0), W(1f90c, 1f93a), W(1f93c, 1f945), W(1f947, 1f9ff), W(1fa70, 1faf6),
	W(20000, 3134a), E(e0001, e007f), Z(e0100, e01ef),
};
/* clang-format on */

size_t kw_utf8_decode(const char *bytes, size_t len, uint32_t *ret)
{
	/* The smallest code point of each length: a smaller one is an overlong form. */
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *b = (const unsigned char *)bytes;
	size_t size = b[0] < 0x80   ? 1
		      : b[0] < 0xc0 ? 0
		      : b[0] < 0xe0 ? 2
		      : b[0] < 0xf0 ? 3
		      : b[0] < 0xf8 ? 4
				    : 0;
	uint32_t code;

	if (!size || size > len)
		return 0;
	code = size == 1 ? b[0] : b[0] & (0x7fu >> size);
	for (size_t i = 1; i < size; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (b[i] & 0x3f);
	}
	if (code < smallest[size] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*ret = code;
	return size;
}

int kw_utf8_width(uint32_t code)
{
	size_t low = 0, high = sizeof(ranges) / sizeof(ranges[0]);

	if (code < 0x20 || (code >= 0x7f && code < 0xa0))
		return -1;
	if (code < 0xa0)
		return 1;
	while (low < high) {
		size_t mid = (low + high) / 2;

		if (code > ranges[mid].last)
			low = mid + 1;
		else if (code < ranges[mid].first)
			high = mid;
		else
			return ranges[mid].width;
	}
	return 1;
}
