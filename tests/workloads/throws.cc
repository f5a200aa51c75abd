/* Exceptions through frames: of functions with names of C++, with names of C, and of qsort, which knows nothing of them. Prints how
 * many were caught, and how often each function was called.
 *
 *     throws
 */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#define TRACED __attribute__((noinline, noclone, noipa))

#define ROUNDS 50

TRACED int throws_thrower(int i)
{
	if (i >= 0)
		throw std::runtime_error("thrown");
	return i;
}

TRACED int throws_middle(int i)
{
	return throws_thrower(i) + 1;
}

extern "C" TRACED int throws_plain(int i)
{
	return throws_middle(i) + 1;
}

extern "C" TRACED int throws_compare(const void *, const void *)
{
	return throws_thrower(1);
}

int main()
{
	int caught = 0, values[2] = { 2, 1 };

	for (int i = 0; i < ROUNDS; i++) {
		try {
			throws_plain(i);
		} catch (const std::exception &) {
			caught++;
		}
		try {
			qsort(values, 2, sizeof(*values), throws_compare);
		} catch (const std::exception &) {
			caught++;
		}
	}
	printf("caught %d\nqsort %d\nthrows_compare %d\nthrows_plain %d\nthrows_middle %d\nthrows_thrower %d\n", caught,
	       ROUNDS, ROUNDS, ROUNDS, ROUNDS, 2 * ROUNDS);
	return caught == 2 * ROUNDS ? 0 : 1;
}
