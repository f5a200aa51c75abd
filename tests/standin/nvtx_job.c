/* A job that uses NVTX by NVIDIA's own header, where a CUDA toolkit has it; else it says so, and exits with 77. */
#include <stdio.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#	include <nvtx3/nvToolsExt.h>
#	include <unistd.h>

int main(void)
{
	nvtxDomainHandle_t domain = nvtxDomainCreateA("data");
	nvtxStringHandle_t text = nvtxDomainRegisterStringA(domain, "load");
	nvtxEventAttributes_t event = { .version = NVTX_VERSION,
					.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					.messageType = NVTX_MESSAGE_TYPE_REGISTERED,
					.message.registered = text,
					.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE,
					.payload.dValue = 0.5 };
	nvtxRangeId_t epoch = nvtxRangeStartA("epoch");

	for (int i = 0; i < 10; i++) {
		nvtxRangePushA("step");
		nvtxDomainRangePushEx(domain, &event);
		usleep(1000);
		nvtxDomainRangePop(domain);
		nvtxRangePop();
	}
	nvtxMarkA("done");
	nvtxRangeEnd(epoch);
	return 0;
}
#else
int main(void)
{
	puts("no NVTX header here");
	return 77;
}
#endif
