/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random bytes: the ChaCha20 block function (RFC 8439, 2.3) run as a
 * generator. Its key is the boot loader's seed (/chosen/rng-seed in the device
 * tree); without one it is fixed, so that a run in exact mode can be repeated
 * to the last bit. The key is replaced after each request: what was
 * handed out cannot be computed from the state later.
 */
#include "dev/dev.h"
#include "dev/random.h"
#include "lib/lock.h"
#include <libfdt.h>

#define KEY_WORDS 8u
#define BLOCK	  64u

static struct {
	struct spinlock lock;
	u32 key[KEY_WORDS];
	bool seeded;
} rng;

static u32 rotl(u32 v, unsigned n)
{
	return v << n | v >> (32 - n);
}

static void quarter_round(u32 *x, unsigned a, unsigned b, unsigned c, unsigned d)
{
	x[a] += x[b];
	x[d] = rotl(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = rotl(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = rotl(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = rotl(x[b] ^ x[c], 7);
}

static void chacha_block(const u32 key[KEY_WORDS], u64 counter, u8 out[BLOCK])
{
	u32 in[16] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 }, x[16];

	memcpy(in + 4, key, KEY_WORDS * sizeof(u32));
	in[12] = (u32)counter;
	in[13] = (u32)(counter >> 32);
	memcpy(x, in, sizeof(x));
	for (unsigned i = 0; i < 10; i++) {
		for (unsigned c = 0; c < 4; c++)
			quarter_round(x, c, c + 4, c + 8, c + 12);
		for (unsigned c = 0; c < 4; c++)
			quarter_round(x, c, (c + 1) % 4 + 4, (c + 2) % 4 + 8, (c + 3) % 4 + 12);
	}
	for (unsigned i = 0; i < 16; i++)
		x[i] += in[i];
	memcpy(out, x, BLOCK);
}

/* Folds bytes into the key. rng.lock held. */
static void mix(const u8 *bytes, size_t n)
{
	u8 block[BLOCK];

	for (size_t i = 0; i < n; i++) {
		((u8 *)rng.key)[i % sizeof(rng.key)] ^= bytes[i];
		if ((i + 1) % sizeof(rng.key) && i + 1 < n)
			continue;
		chacha_block(rng.key, 0, block);
		memcpy(rng.key, block, sizeof(rng.key));
	}
}

void random_mix(const void *bytes, size_t n)
{
	u64 flags = spin_lock_irqsave(&rng.lock);

	mix(bytes, n);
	spin_unlock_irqrestore(&rng.lock, flags);
}

static void seed(void)
{
	int len = 0, chosen = fdt_path_offset(fdt_blob(), "/chosen");
	const void *prop = chosen < 0 ? NULL : fdt_getprop(fdt_blob(), chosen, "rng-seed", &len);

	rng.seeded = true;
	if (prop && len > 0)
		mix(prop, (size_t)len);
}

void random_bytes(void *buf, size_t n)
{
	u64 flags = spin_lock_irqsave(&rng.lock);
	u32 key[KEY_WORDS];
	u8 block[BLOCK], *out = buf;

	if (!rng.seeded)
		seed();
	/* the first half block is the next key, the second half the first bytes of the answer */
	memcpy(key, rng.key, sizeof(key));
	chacha_block(key, 0, block);
	memcpy(rng.key, block, sizeof(rng.key));
	spin_unlock_irqrestore(&rng.lock, flags);

	size_t len = MIN(n, BLOCK / 2);

	memcpy(out, block + BLOCK / 2, len);
	for (u64 counter = 1; len < n; counter++) {
		size_t part = MIN(n - len, BLOCK);

		chacha_block(key, counter, block);
		memcpy(out + len, block, part);
		len += part;
	}
	memset(key, 0, sizeof(key));
	__asm__ volatile("" ::"r"(key) : "memory");
}
