#include "capture/doctor.h"

#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/descriptors.h"
#include "capture/kernel.h"
#include "capture/layers_open.h"
#include "capture/rights.h"
#include "sampler/sampler.h"

const char *const doctor_state_names[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_NOTE] = "note",
	[DOCTOR_WARNING] = "warning",
	[DOCTOR_MISSING] = "missing",
};

struct doctor_check *doctor_add(struct doctor *doctor, const char *name, enum doctor_state state,
				const char *found, ...)
{
	size_t most = sizeof(doctor->checks) / sizeof(*doctor->checks);
	struct doctor_check *check = &doctor->checks[doctor->check_count];
	va_list args;

	if (doctor->check_count < most - 1) /* the last one is for those that find no place */
		doctor->check_count++;
	*check = (struct doctor_check){ .name = name, .state = state };
	va_start(args, found);
	vsnprintf(check->found, sizeof(check->found), found, args);
	va_end(args);
	return check;
}

void doctor_advise(struct doctor_check *check, const char *fix, ...)
{
	va_list args;

	va_start(args, fix);
	vsnprintf(check->fix, sizeof(check->fix), fix, args);
	va_end(args);
}

bool doctor_read_line(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "re");
	bool read = file && fgets(out, (int)size, file);

	if (file)
		fclose(file);
	if (read)
		out[strcspn(out, "\n")] = 0;
	else
		*out = 0;
	return read;
}

void doctor_look_around(struct doctor *doctor)
{
	doctor_look_at_kernel(doctor);
	doctor_look_at_limits(doctor);
	doctor_look_at_place(doctor);
}

static void add_hook(void *context, enum probe_id probe, const char *place, bool attached)
{
	struct doctor *doctor = context;
	struct doctor_hook hook = { .probe = probe, .attached = attached };

	snprintf(hook.place, sizeof(hook.place), "%s", place);
	if (buf_append(&doctor->hooks, &hook, sizeof(hook)))
		return; /* out of memory: the list is shorter */
}

/* As for a command in default scope. Nothing is recorded: that is never switched on. */
static int try_kernel(struct doctor *doctor, struct error *e)
{
	struct selection everything = { .subsystem = -1 };
	struct kernel_config config = {
		.layers = doctor->layers,
		.process_all = true,
		.command = true,
		.selection = &everything,
		.absences = &doctor->absences,
	};
	struct kernel *kernel = NULL;
	int err = kernel_open(&kernel, &config, e);

	if (!err) {
		doctor->layers = kernel_layers(kernel);
		kernel_list_hooks(kernel, add_hook, doctor);
	}
	kernel_close(kernel);
	return err;
}

static int try_samplers(struct doctor *doctor, struct error *e)
{
	void **states = NULL;
	int err = layers_open_samplers(&states, &doctor->layers, 0, &doctor->absences, e);

	samplers_close(states);
	return err;
}

/* Libraries of others are loaded from here on. */
static void drop_rights(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	syscall(SYS_capset, &header, none);
}

/* All is recorded that there is on this machine. */
static bool is_complete(const struct doctor *doctor, uint32_t wanted)
{
	const struct absences *absences = &doctor->absences;

	for (size_t i = 0; i < absences->count; i++)
		if (!absences->items[i].expected)
			return false;
	return doctor->layers == (wanted & ~absences->expected);
}

void doctor_try(struct doctor *doctor)
{
	uint32_t wanted = layers_that(WHEN_ALWAYS) | layers_that(WHEN_DEFAULT);
	struct rlimit files;
	struct error e;
	int err;

	doctor->layers = wanted;
	err = rights_check(&e);
	descriptors_raise(&files);
	if (!err) {
		doctor->tried = true;
		err = descriptors_explain(try_kernel(doctor, &e), &e);
	}
	drop_rights();
	if (!err)
		err = try_samplers(doctor, &e);
	descriptors_restore(&files);
	doctor->works = !err;
	doctor->complete = !err && is_complete(doctor, wanted);
	if (err) {
		doctor->layers = 0;
		snprintf(doctor->failure, sizeof(doctor->failure), "%.*s",
			 (int)sizeof(doctor->failure) - 1, e.text);
	}
}

const char *doctor_why_absent(const struct doctor *doctor, enum layer layer)
{
	if (!(layers_available() & LAYER_BIT(layer)))
		return "this version of strata does not record it";
	for (size_t i = 0; i < doctor->absences.count; i++)
		if (!strcmp(doctor->absences.items[i].what, schema_layers[layer].name))
			return doctor->absences.items[i].why;
	return *doctor->failure ? doctor->failure : "only recorded when it is named with -e";
}

void doctor_free(struct doctor *doctor)
{
	buf_free(&doctor->hooks);
}
