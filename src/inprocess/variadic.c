/* The functions whose arguments depend on each other. What is passed on is what the function would have read: a mode where the flags
 * of open say so, one argument of fcntl, which is never longer than a pointer, and a va_list to the function that takes one. */
#include "inprocess/library.h"

#include <fcntl.h>
#include <sys/mman.h>

#define HAS_MODE(flags) ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE)

#define OPEN(name, parameters, last, ...)                                             \
	EXPORTED int wrapped_##name parameters __asm__(#name);                        \
                                                                                      \
	int wrapped_##name parameters                                                 \
	{                                                                             \
		int(*next) parameters =                                               \
			(int(*) parameters)call_next(INPROCESS_##name, MISSING(int)); \
		struct call call;                                                     \
		mode_t mode = 0;                                                      \
		va_list list;                                                         \
		int result;                                                           \
                                                                                      \
		if (HAS_MODE(flags)) {                                                \
			va_start(list, last);                                         \
			mode = va_arg(list, mode_t);                                  \
			va_end(list);                                                 \
		}                                                                     \
		if (!call_begin(&call, INPROCESS_##name, SHOWN(__VA_ARGS__, mode)))   \
			return next(__VA_ARGS__, mode);                               \
		result = next(__VA_ARGS__, mode);                                     \
		call_end(&call, INPROCESS_##name, result);                            \
		return result;                                                        \
	}

OPEN(open, (const char *path, int flags, ...), flags, path, flags)
OPEN(open64, (const char *path, int flags, ...), flags, path, flags)
OPEN(openat, (int folder, const char *path, int flags, ...), flags, folder, path, flags)
OPEN(openat64, (int folder, const char *path, int flags, ...), flags, folder, path, flags)

#define FCNTL(name)                                                                        \
	EXPORTED int wrapped_##name(int fd, int command, ...) __asm__(#name);              \
                                                                                           \
	int wrapped_##name(int fd, int command, ...)                                       \
	{                                                                                  \
		int (*next)(int, int, ...) =                                               \
			(int (*)(int, int, ...))call_next(INPROCESS_##name, MISSING(int)); \
		struct call call;                                                          \
		va_list list;                                                              \
		void *argument;                                                            \
		int result;                                                                \
                                                                                           \
		va_start(list, command);                                                   \
		argument = va_arg(list, void *);                                           \
		va_end(list);                                                              \
		if (!call_begin(&call, INPROCESS_##name, fd, command, (long)argument, 0))  \
			return next(fd, command, argument);                                \
		result = next(fd, command, argument);                                      \
		call_end(&call, INPROCESS_##name, result);                                 \
		return result;                                                             \
	}

FCNTL(fcntl)
FCNTL(fcntl64)

EXPORTED void *wrapped_mremap(void *old, size_t old_size, size_t size, int flags,
			      ...) __asm__("mremap");

void *wrapped_mremap(void *old, size_t old_size, size_t size, int flags, ...)
{
	void *(*next)(void *, size_t, size_t, int, ...) =
		(void *(*)(void *, size_t, size_t, int, ...))call_next(INPROCESS_mremap,
								       MISSING(void *));
	struct call call;
	void *where = NULL, *result;
	va_list list;

	if (flags & MREMAP_FIXED) {
		va_start(list, flags);
		where = va_arg(list, void *);
		va_end(list);
	}
	if (!call_begin(&call, INPROCESS_mremap, SHOWN(old, old_size, size, flags)))
		return next(old, old_size, size, flags, where);
	result = next(old, old_size, size, flags, where);
	call_end(&call, INPROCESS_mremap, (long)result);
	return result;
}

/* `with`: the function that takes a va_list. */
#define PRINT(name, with, parameters, types, ...)                                           \
	EXPORTED int wrapped_##name parameters __asm__(#name);                              \
                                                                                            \
	int wrapped_##name parameters                                                       \
	{                                                                                   \
		int(*next) types = (int(*) types)call_next(INPROCESS_##with, MISSING(int)); \
		struct call call;                                                           \
		va_list list;                                                               \
		bool recorded;                                                              \
		int result;                                                                 \
                                                                                            \
		va_start(list, format);                                                     \
		recorded = call_begin(&call, INPROCESS_##name, PRINT_SHOWN);                \
		result = next(__VA_ARGS__, list);                                           \
		if (recorded)                                                               \
			call_end(&call, INPROCESS_##name, result);                          \
		va_end(list);                                                               \
		return result;                                                              \
	}

#define PRINT_SHOWN SHOWN(format)
PRINT(printf, vprintf, (const char *format, ...), (const char *, va_list), format)
PRINT(__printf_chk, __vprintf_chk, (int flag, const char *format, ...),
      (int, const char *, va_list), flag, format)
#undef PRINT_SHOWN
#define PRINT_SHOWN SHOWN(to, format)
PRINT(fprintf, vfprintf, (void *to, const char *format, ...), (void *, const char *, va_list), to,
      format)
PRINT(__fprintf_chk, __vfprintf_chk, (void *to, int flag, const char *format, ...),
      (void *, int, const char *, va_list), to, flag, format)
PRINT(dprintf, vdprintf, (int to, const char *format, ...), (int, const char *, va_list), to,
      format)
PRINT(__dprintf_chk, __vdprintf_chk, (int to, int flag, const char *format, ...),
      (int, int, const char *, va_list), to, flag, format)
