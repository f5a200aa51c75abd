/* The functions whose arguments are a list: each has the name of the one that it stands before, for the loader. */
#include "inprocess/library.h"

#define CALL_AS(type, name, as, parameters, arguments, shown)                           \
	EXPORTED type wrapped_##name parameters __asm__(#name);                         \
                                                                                        \
	type wrapped_##name parameters                                                  \
	{                                                                               \
		type(*next) parameters =                                                \
			(type(*) parameters)call_next(INPROCESS_##name, MISSING(type)); \
		struct call call;                                                       \
		type result;                                                            \
                                                                                        \
		if (!call_begin(&call, INPROCESS_##name, SHOWN shown))                  \
			return next arguments;                                          \
		result = next arguments;                                                \
		call_end(&call, INPROCESS_##name, (long)result);                        \
		return result;                                                          \
	}

#define PROCEDURE(name, parameters, arguments)                                                   \
	EXPORTED void wrapped_##name parameters __asm__(#name);                                  \
                                                                                                 \
	void wrapped_##name parameters                                                           \
	{                                                                                        \
		void(*next) parameters =                                                         \
			(void(*) parameters)call_next(INPROCESS_##name, (void *)missing_number); \
		struct call call;                                                                \
                                                                                                 \
		if (!call_begin(&call, INPROCESS_##name, SHOWN arguments)) {                     \
			next arguments;                                                          \
			return;                                                                  \
		}                                                                                \
		next arguments;                                                                  \
		call_end(&call, INPROCESS_##name, 0);                                            \
	}

#include "inprocess/functions.def"
