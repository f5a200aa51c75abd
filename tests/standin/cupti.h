/* What the stand-in for CUPTI lets a test program have a device do: see cupti.c. */
#ifndef STRATA_TESTS_STANDIN_CUPTI_H
#define STRATA_TESTS_STANDIN_CUPTI_H

#include <stddef.h>
#include <stdint.h>

enum { STANDIN_HTOD = 1, STANDIN_DTOH = 2, STANDIN_DTOD = 8 };

/* Each takes so many nanoseconds of the device, from 1000 ns after the call on. */
void standin_kernel(const char *name, uint32_t device, uint32_t stream, uint64_t ns);
void standin_copy(unsigned direction, int pinned, uint64_t bytes, uint32_t device, uint32_t stream,
		  uint64_t ns);
void standin_memset(uint64_t bytes, uint32_t device, uint32_t stream, uint64_t ns);
void standin_graph(uint32_t graph, unsigned kernels, uint32_t device, uint32_t stream, uint64_t ns);

/* The calling thread spins for the device. */
void standin_synchronize(uint32_t device, uint32_t stream, uint64_t ns);

/* CUPTI's own, as far as a profiler of the job's uses it. */
typedef void standin_request(uint8_t **buffer, size_t *size, size_t *most);
typedef void standin_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			      size_t valid);
int cuptiActivityRegisterCallbacks(standin_request *request, standin_complete *complete);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, void **record);

#endif
