/* What the doctor finds about GPUs: the driver, and the libraries that tell of them. Loads libraries: after the rights are
 * dropped.
 */
#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/doctor.h"

/* Where CUPTI lies beside the loader's own places. */
static const char *const cupti_places[] = {
	"/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*",
	"/usr/local/cuda*/lib64/libcupti.so*",
	"/usr/lib/*/libcupti.so*",
	"/opt/nvidia/*/libcupti.so*",
};

/* CUPTI is not made to be unloaded: it would leave memory behind. */
static bool can_load(const char *name)
{
	void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);

	if (library)
		dlclose(library);
	return library;
}

static bool find_file(const char *pattern, char *out, size_t size)
{
	glob_t found = { 0 };
	bool any = !glob(pattern, 0, NULL, &found) && found.gl_pathc;

	if (any)
		snprintf(out, size, "%s", found.gl_pathv[0]);
	globfree(&found);
	return any;
}

static void look_at_nvml(struct doctor *doctor)
{
	char driver[256];
	bool card = doctor_read_line("/proc/driver/nvidia/version", driver, sizeof(driver));
	struct doctor_check *check;

	if (can_load("libnvidia-ml.so.1")) {
		doctor_add(doctor, "nvml", card ? DOCTOR_OK : DOCTOR_NOTE, "libnvidia-ml.so.1%s%s",
			   card ? ", " : ", but no driver is loaded", card ? driver : "");
	} else if (!card) {
		doctor_add(doctor, "nvml", DOCTOR_NOTE,
			   "absent: no NVIDIA driver on this machine, so no GPU to sample");
	} else {
		check = doctor_add(doctor, "nvml", DOCTOR_WARNING,
				   "the driver is loaded, but there is no libnvidia-ml.so.1");
		doctor_advise(check,
			      "install the driver's libraries: apt install libnvidia-ml1; in a "
			      "container, docker run --gpus all");
	}
}

static void look_at_cupti(struct doctor *doctor)
{
	char path[256];

	if (can_load("libcupti.so") || can_load("libcupti.so.13") || can_load("libcupti.so.12")) {
		doctor_add(doctor, "cupti", DOCTOR_OK, "found by the loader");
		return;
	}
	for (size_t i = 0; i < sizeof(cupti_places) / sizeof(*cupti_places); i++)
		if (find_file(cupti_places[i], path, sizeof(path))) {
			doctor_add(doctor, "cupti", DOCTOR_OK, "%s", path);
			return;
		}
	doctor_add(doctor, "cupti", DOCTOR_NOTE,
		   "absent: no libcupti in the loader's places or below /usr/local/cuda*");
}

void doctor_look_at_gpus(struct doctor *doctor)
{
	look_at_nvml(doctor);
	look_at_cupti(doctor);
}
