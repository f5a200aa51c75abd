/* strata's own declarations of CUPTI's records against CUPTI's headers, where a CUDA toolkit is installed: the offset of each field that is
 * read, and each number that is used. Nothing of this is needed to build or to run strata.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#if __has_include(<cupti.h>)
#	include <cupti.h>

#	define cupti_kind strata_cupti_kind
#	include "gpu/cupti.h"

#	if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 kernel;
typedef CUpti_ActivityMemcpy6 copy;
#	else
typedef CUpti_ActivityKernel9 kernel;
typedef CUpti_ActivityMemcpy5 copy;
#	endif

#	define SAME(ours, field, theirs, name)                                          \
		_Static_assert(offsetof(struct ours, field) == offsetof(theirs, name) && \
				       sizeof(((struct ours *)0)->field) >=              \
					       sizeof(((theirs *)0)->name),              \
			       #ours "." #field)

SAME(cupti_kernel, registers, kernel, registersPerThread);
SAME(cupti_kernel, start, kernel, start);
SAME(cupti_kernel, end, kernel, end);
SAME(cupti_kernel, device, kernel, deviceId);
SAME(cupti_kernel, context, kernel, contextId);
SAME(cupti_kernel, stream, kernel, streamId);
SAME(cupti_kernel, grid, kernel, gridX);
SAME(cupti_kernel, block, kernel, blockX);
SAME(cupti_kernel, static_shared, kernel, staticSharedMemory);
SAME(cupti_kernel, dynamic_shared, kernel, dynamicSharedMemory);
SAME(cupti_kernel, correlation, kernel, correlationId);
SAME(cupti_kernel, name, kernel, name);
SAME(cupti_kernel, graph_node, kernel, graphNodeId);
SAME(cupti_kernel, graph, kernel, graphId);

SAME(cupti_memcpy, copy_kind, copy, copyKind);
SAME(cupti_memcpy, from, copy, srcKind);
SAME(cupti_memcpy, to, copy, dstKind);
SAME(cupti_memcpy, bytes, copy, bytes);
SAME(cupti_memcpy, start, copy, start);
SAME(cupti_memcpy, end, copy, end);
SAME(cupti_memcpy, device, copy, deviceId);
SAME(cupti_memcpy, context, copy, contextId);
SAME(cupti_memcpy, stream, copy, streamId);
SAME(cupti_memcpy, correlation, copy, correlationId);
SAME(cupti_memcpy, graph, copy, graphId);

SAME(cupti_memcpy2, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(cupti_memcpy2, start, CUpti_ActivityMemcpyPtoP4, start);
SAME(cupti_memcpy2, device, CUpti_ActivityMemcpyPtoP4, deviceId);
SAME(cupti_memcpy2, stream, CUpti_ActivityMemcpyPtoP4, streamId);
SAME(cupti_memcpy2, correlation, CUpti_ActivityMemcpyPtoP4, correlationId);
SAME(cupti_memcpy2, graph, CUpti_ActivityMemcpyPtoP4, graphId);

SAME(cupti_memset, bytes, CUpti_ActivityMemset4, bytes);
SAME(cupti_memset, start, CUpti_ActivityMemset4, start);
SAME(cupti_memset, end, CUpti_ActivityMemset4, end);
SAME(cupti_memset, device, CUpti_ActivityMemset4, deviceId);
SAME(cupti_memset, context, CUpti_ActivityMemset4, contextId);
SAME(cupti_memset, stream, CUpti_ActivityMemset4, streamId);
SAME(cupti_memset, correlation, CUpti_ActivityMemset4, correlationId);
SAME(cupti_memset, graph, CUpti_ActivityMemset4, graphId);

SAME(cupti_synchronization, type, CUpti_ActivitySynchronization2, type);
SAME(cupti_synchronization, start, CUpti_ActivitySynchronization2, start);
SAME(cupti_synchronization, end, CUpti_ActivitySynchronization2, end);
SAME(cupti_synchronization, correlation, CUpti_ActivitySynchronization2, correlationId);
SAME(cupti_synchronization, context, CUpti_ActivitySynchronization2, contextId);
SAME(cupti_synchronization, stream, CUpti_ActivitySynchronization2, streamId);

SAME(cupti_call, site, CUpti_CallbackData, callbackSite);
SAME(cupti_call, function, CUpti_CallbackData, functionName);
SAME(cupti_call, correlation, CUpti_CallbackData, correlationId);

static void numbers_are_cuptis(void **state)
{
	(void)state;
	assert_int_equal(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
	assert_int_equal(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
	assert_int_equal(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	assert_int_equal(CUPTI_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMCPY2);
	assert_int_equal(CUPTI_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	assert_int_equal(CUPTI_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
	assert_int_equal(CUPTI_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	assert_int_equal(CUPTI_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
	assert_int_equal(CUPTI_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
	assert_int_equal(CUPTI_ENTER, CUPTI_API_ENTER);
	assert_int_equal(CUPTI_EXIT, CUPTI_API_EXIT);
}
#else
static void numbers_are_cuptis(void **state)
{
	(void)state;
	skip(); /* no CUDA toolkit here */
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_are_cuptis) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
