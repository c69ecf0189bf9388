/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words every file of the kernel uses: fixed-width types, small macros,
 * the log, panic and assertions.
 */
#ifndef TALLY_LIB_KERNEL_H
#define TALLY_LIB_KERNEL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/errno.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
typedef int64_t ssize_t;
typedef int64_t loff_t;
typedef int pid_t;
typedef u32 uid_t;
typedef u32 gid_t;
typedef u32 mode_t;
typedef u64 dev_t;
typedef u64 ino_t;
typedef u64 paddr_t;

/*
 * Results that stay inside the kernel. The first is an interrupted system call
 * that restarts (with SA_RESTART, or always when no handler runs); the others
 * follow Linux's names. None of them ever reaches user space.
 */
#define ERESTARTSYS 512
#define ERESTARTNOINTR 513
#define ERESTARTNOHAND 514
#define ERESTART_RESTARTBLOCK 516

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ALIGN_UP(x, a) (((x) + ((__typeof__(x))(a) - 1)) & ~((__typeof__(x))(a) - 1))
#define ALIGN_DOWN(x, a) ((x) & ~((__typeof__(x))(a) - 1))
#define IS_ALIGNED(x, a) (((x) & ((__typeof__(x))(a) - 1)) == 0)
/* Each operand is evaluated once. Not for constant expressions. */
#define MIN(a, b) CHOOSE(<, a, b, UNIQUE(first), UNIQUE(second))
#define MAX(a, b) CHOOSE(>, a, b, UNIQUE(first), UNIQUE(second))
#define CHOOSE(op, a, b, x, y)   \
	({                       \
		__auto_type x = (a); \
		__auto_type y = (b); \
		x op y ? x : y;  \
	})
#define UNIQUE(name) PASTE(name, __COUNTER__)
#define PASTE(a, b)  PASTE_AS_THEY_ARE(a, b)
#define PASTE_AS_THEY_ARE(a, b) a##b
#define BIT(n) (1ULL << (n))
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#define READ_ONCE(x) (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))
#define __printf(f, a) __attribute__((format(printf, f, a)))
#define __noreturn __attribute__((noreturn))
#define __used __attribute__((used))
#define __weak __attribute__((weak))
#define __section(s) __attribute__((section(s)))
#define __aligned(n) __attribute__((aligned(n)))
#define __must_check __attribute__((warn_unused_result))

#define NSEC_PER_SEC 1000000000ULL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_USEC 1000ULL

/* A pointer that may carry a negative errno in its place. */
static inline void *ERR_PTR(long err)
{
	return (void *)err;
}
static inline long PTR_ERR(const void *p)
{
	return (long)p;
}
static inline bool IS_ERR(const void *p)
{
	return (uintptr_t)p >= (uintptr_t)-4095;
}

/* One line (or part of one) to the kernel log: PL011 and the ring behind /dev/kmsg. Any context. */
void printk(const char *fmt, ...) __printf(1, 2);
void printk_start(void);      /* the serial port works: show what was printed so far, and all that follows */
void printk_panic_mode(void); /* from now on without its lock, whose holder may never go on */
/* Prints the message, registers and a symbolised backtrace, then ends QEMU with an error. Any context. */
void panic(const char *fmt, ...) __printf(1, 2) __noreturn;
#define ASSERT(cond)                                                                   \
	do {                                                                           \
		if (unlikely(!(cond)))                                                 \
			panic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #cond); \
	} while (0)

/* lib/printf.c: %d %i %u %x %X %o %c %s %p %% with l/ll/z/h, width, precision, 0, -, +, space, #, *. */
int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap);
int snprintf(char *buf, size_t size, const char *fmt, ...) __printf(3, 4);
/* lib/string.c */
void *memcpy(void *d, const void *s, size_t n);
void *memmove(void *d, const void *s, size_t n);
void *memset(void *d, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *s, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
/* Copies at most size-1 bytes and always ends the string; returns -E2BIG if it was cut, else the length. */
ssize_t strscpy(char *dst, const char *src, size_t size);
/* Decimal, 0x or 0 prefix by base 0. *end is set behind the last digit. */
u64 strtoull(const char *s, char **end, int base);
unsigned long strtoul(const char *s, char **end, int base);

#endif
