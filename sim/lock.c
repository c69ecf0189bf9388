/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.c - spin locks and mutexes that notice when they are misused.
 *
 * Locks that are initialised at the same place in the code are of one class.
 * The order in which classes were ever taken one inside the other is recorded,
 * and a cycle in it is an error even if nobody has run into it yet.
 */
#include <stdio.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "machine.h"

#define SPIN_MAGIC  0x5b1c4001U
#define MUTEX_MAGIC 0x5b1c4002U

/* The second word of both is the place where it was taken last: drive.c shows it. */
struct sim_spin {
	uint32_t magic;
	int32_t owner; /* CPU, or -1 */
	const void *site;
	unsigned int class;
};

struct sim_mutex {
	uint32_t magic;
	unsigned int class;
	const void *site;
	struct sim_task *owner;
	struct sim_task *waiting; /* first come, first woken */
};

_Static_assert(sizeof(struct sim_spin) <= sizeof(struct port_spinlock), "port_spinlock too small");
_Static_assert(sizeof(struct sim_mutex) <= sizeof(struct port_mutex), "port_mutex too small");

#define MAX_CLASSES 64

static const void *classes[MAX_CLASSES]; /* where its locks are initialised */
static unsigned int nr_classes;
static bool inside[MAX_CLASSES][MAX_CLASSES]; /* [a][b]: b was taken inside a */

const char *sim_site(const void *site, char *buffer, size_t size)
{
	if (site == NULL)
		return "the simulator";
#ifdef __SANITIZE_ADDRESS__
	__sanitizer_symbolize_pc((void *)((uintptr_t)site - 1), "%f %S", buffer, size);
#else
	snprintf(buffer, size, "%p", site);
#endif
	return buffer;
}

static unsigned int class_of(const void *site)
{
	for (unsigned int i = 0; i < nr_classes; i++)
		if (classes[i] == site)
			return i;
	sim_assert(nr_classes < MAX_CLASSES);
	classes[nr_classes] = site;
	return nr_classes++;
}

/* Whether @b has been taken inside @a, directly or not. */
static bool reaches(unsigned int a, unsigned int b, unsigned int depth)
{
	if (inside[a][b])
		return true;
	for (unsigned int c = 0; depth < nr_classes && c < nr_classes; c++)
		if (inside[a][c] && c != a && reaches(c, b, depth + 1))
			return true;
	return false;
}

static void order(unsigned int outer, unsigned int inner)
{
	char a[256], b[256];

	if (outer == inner || inside[outer][inner])
		return;
	if (reaches(inner, outer, 0))
		sim_fail("locks are taken in both orders: of %s, and of %s",
			 sim_site(classes[outer], a, sizeof(a)),
			 sim_site(classes[inner], b, sizeof(b)));
	inside[outer][inner] = true;
}

/* A lock of this class is being taken: note what it is taken inside of. */
static void note_order(unsigned int class)
{
	const struct sim_cpu *cpu = sim.cpu;

	for (unsigned int i = 0; i < cpu->nr_held; i++)
		order(((const struct sim_spin *)cpu->held[i]->opaque)->class, class);
	for (unsigned int i = 0; !cpu->in_irq && i < cpu->current->nr_held; i++)
		order(((const struct sim_mutex *)cpu->current->held[i]->opaque)->class, class);
}

/* ------------------------------------------------------------- spin locks */

static struct sim_spin *spin_of(const struct port_spinlock *lock)
{
	struct sim_spin *s = (struct sim_spin *)(uintptr_t)lock->opaque;

	if (s->magic != SPIN_MAGIC)
		sim_fail("a spin lock that is not initialised");
	return s;
}

void port_spin_init(struct port_spinlock *lock)
{
	struct sim_spin *s = (struct sim_spin *)lock->opaque;

	s->magic = SPIN_MAGIC;
	s->owner = -1;
	s->site = NULL;
	s->class = class_of(__builtin_return_address(0));
}

bool sim_spin_held(const struct port_spinlock *lock)
{
	return spin_of(lock)->owner >= 0;
}

uintptr_t port_spin_lock(struct port_spinlock *lock)
{
	struct sim_spin *s = spin_of(lock);
	uintptr_t irq = port_irq_save();
	struct sim_cpu *cpu = sim.cpu;

	if (s->owner == cpu->nr)
		sim_fail("a spin lock is taken twice");
	note_order(s->class);
	sim_pass(SIM_AT_SPIN_LOCK, __builtin_return_address(0));
	cpu->spinning = lock;
	while (spin_of(lock)->owner >= 0)
		sim_give_turn();
	cpu->spinning = NULL;
	s->owner = cpu->nr;
	s->site = __builtin_return_address(0);
	sim_assert(cpu->nr_held < SIM_MAX_HELD);
	cpu->held[cpu->nr_held++] = lock;
	return irq;
}

static void forget_spin(struct sim_cpu *cpu, const struct port_spinlock *lock)
{
	unsigned int i = cpu->nr_held;

	while (i > 0 && cpu->held[i - 1] != lock)
		i--;
	sim_assert(i > 0);
	for (; i < cpu->nr_held; i++)
		cpu->held[i - 1] = cpu->held[i];
	cpu->nr_held--;
}

void port_spin_unlock(struct port_spinlock *lock, uintptr_t irq)
{
	struct sim_spin *s = spin_of(lock);

	if (sim.cpu == NULL || s->owner != sim.cpu->nr)
		sim_fail("a spin lock is released by a CPU that does not hold it");
	forget_spin(sim.cpu, lock);
	s->owner = -1;
	if (irq == 0)
		sim_irq_on();
	sim_pass(SIM_AT_SPIN_UNLOCK, __builtin_return_address(0));
}

/* ---------------------------------------------------------------- mutexes */

static struct sim_mutex *mutex_of(struct port_mutex *mutex)
{
	struct sim_mutex *m = (struct sim_mutex *)mutex->opaque;

	if (m->magic != MUTEX_MAGIC)
		sim_fail("a mutex that is not initialised");
	return m;
}

void port_mutex_init(struct port_mutex *mutex)
{
	struct sim_mutex *m = (struct sim_mutex *)mutex->opaque;

	*m = (struct sim_mutex){.magic = MUTEX_MAGIC,
				.class = class_of(__builtin_return_address(0))};
}

static void wait_for_mutex(struct sim_mutex *m)
{
	struct sim_task *self = sim.cpu->current, **end = &m->waiting;

	sim_assert(!sim.cpu->worker);
	while (*end != NULL)
		end = &(*end)->next_waiting;
	*end = self;
	self->next_waiting = NULL;
	self->state = SIM_SLEEPING;
	sim_sleep();
}

void port_mutex_lock(struct port_mutex *mutex)
{
	struct sim_mutex *m = mutex_of(mutex);
	struct sim_task *self;

	sim_must_sleep("port_mutex_lock()");
	self = sim.cpu->current;
	if (m->owner == self)
		sim_fail("a mutex is taken twice");
	note_order(m->class);
	sim_pass(SIM_AT_MUTEX_LOCK, __builtin_return_address(0));
	while (m->owner != NULL)
		wait_for_mutex(m);
	m->owner = self;
	m->site = __builtin_return_address(0);
	sim_assert(self->nr_held < SIM_MAX_HELD);
	self->held[self->nr_held++] = mutex;
}

static void forget_mutex(struct sim_task *task, const struct port_mutex *mutex)
{
	unsigned int i = task->nr_held;

	while (i > 0 && task->held[i - 1] != mutex)
		i--;
	sim_assert(i > 0);
	for (; i < task->nr_held; i++)
		task->held[i - 1] = task->held[i];
	task->nr_held--;
}

void port_mutex_unlock(struct port_mutex *mutex)
{
	struct sim_mutex *m = mutex_of(mutex);
	struct sim_task *first = m->waiting;

	sim_must_sleep("port_mutex_unlock()");
	if (m->owner != sim.cpu->current)
		sim_fail("a mutex is released by a task that does not hold it");
	forget_mutex(m->owner, mutex);
	m->owner = NULL;
	if (first != NULL) {
		m->waiting = first->next_waiting;
		sim_wake(first);
	}
	sim_pass(SIM_AT_MUTEX_UNLOCK, __builtin_return_address(0));
}
