/* What the doctor finds about the kernel and the rights of this process. */
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/caps.h"
#include "capture/doctor.h"
#include "capture/rights.h"

static void look_at_version(struct doctor *doctor)
{
	struct utsname system;

	if (!uname(&system))
		doctor_add(doctor, "kernel", DOCTOR_OK, "%s %s, %s", system.sysname, system.release,
			   system.machine);
}

static void look_at_btf(struct doctor *doctor)
{
	static const char path[] = "/sys/kernel/btf/vmlinux";
	struct doctor_check *check;
	struct stat file;

	if (!stat(path, &file) && !access(path, R_OK)) {
		doctor_add(doctor, "btf", DOCTOR_OK, "%s, %lld bytes", path,
			   (long long)file.st_size);
		return;
	}
	check = doctor_add(doctor, "btf", DOCTOR_MISSING,
			   "%s cannot be read: the kernel's types are not known", path);
	doctor_advise(check,
		      "boot a kernel that was built with CONFIG_DEBUG_INFO_BTF=y, as those of "
		      "Debian, Ubuntu, Fedora and RHEL are; in a container, mount /sys");
}

/* The mode that is on is in brackets: none [integrity] confidentiality */
static void look_at_lockdown(struct doctor *doctor)
{
	struct doctor_check *check;
	char line[128], *mode;

	if (!doctor_read_line("/sys/kernel/security/lockdown", line, sizeof(line))) {
		doctor_add(doctor, "lockdown", DOCTOR_OK, "none (not told by this kernel)");
		return;
	}
	mode = strchr(line, '[');
	if (mode)
		mode[strcspn(mode, "]")] = 0;
	mode = mode ? mode + 1 : line;
	check = doctor_add(doctor, "lockdown",
			   strcmp(mode, "confidentiality") ? DOCTOR_OK : DOCTOR_MISSING, "%s",
			   mode);
	if (check->state == DOCTOR_MISSING)
		doctor_advise(check, "programs may not read kernel memory: boot with "
				     "lockdown=integrity, or without lockdown= on the kernel's "
				     "command line");
}

static void advise_rights(struct doctor_check *check)
{
	char recipe[RIGHTS_RECIPE_BYTES];

	doctor_advise(check, "run it with sudo, or let the members of a group record: %s",
		      rights_recipe(recipe, sizeof(recipe)));
}

static void look_at_capabilities(struct doctor *doctor)
{
	static const struct {
		int number;
		const char *name;
		const char *use;
	} wanted[] = {
		{ CAP_BPF, "CAP_BPF", "" },
		{ CAP_PERFMON, "CAP_PERFMON", "" },
		{ CAP_SYS_NICE, "CAP_SYS_NICE", "the recorder cannot hurry on a busy machine" },
	};
	uint64_t have = caps_effective();
	bool all = have >> CAP_SYS_ADMIN & 1;
	struct doctor_check *check;
	char text[256] = "";

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		bool has = have >> wanted[i].number & 1 || (all && !*wanted[i].use);

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s%s%s%s%s",
			 *text ? ", " : "", has ? "" : "no ", wanted[i].name,
			 has || !*wanted[i].use ? "" : " (", has ? "" : wanted[i].use,
			 has || !*wanted[i].use ? "" : ")");
	}
	if (all || (have >> CAP_BPF & 1 && have >> CAP_PERFMON & 1)) {
		doctor_add(doctor, "capabilities", DOCTOR_OK, "%s", text);
		return;
	}
	check = doctor_add(doctor, "capabilities", DOCTOR_MISSING, "%s", text);
	advise_rights(check);
}

static void look_at_tracefs(struct doctor *doctor)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct statfs system;

	for (size_t i = 0; i < 2; i++)
		if (!statfs(places[i], &system) && system.f_type == TRACEFS_MAGIC) {
			doctor_add(doctor, "tracefs", DOCTOR_OK, "%s", places[i]);
			return;
		}
	doctor_add(doctor, "tracefs", DOCTOR_NOTE, "not mounted; strata does not need it");
}

/* Kernels that know a 3, as Debian's does, then want CAP_SYS_ADMIN for any counter. */
static void look_at_paranoia(struct doctor *doctor)
{
	struct doctor_check *check;
	char value[32];

	if (!doctor_read_line("/proc/sys/kernel/perf_event_paranoid", value, sizeof(value)))
		return;
	if (atoi(value) <= 2 || caps_effective() >> CAP_SYS_ADMIN & 1) {
		doctor_add(doctor, "perf_event_paranoid", DOCTOR_OK, "%s; CAP_PERFMON passes it",
			   value);
		return;
	}
	check = doctor_add(doctor, "perf_event_paranoid", DOCTOR_WARNING,
			   "%s: CAP_PERFMON may not count page faults", value);
	doctor_advise(check, "sudo sysctl kernel.perf_event_paranoid=2");
}

static void look_at_settings(struct doctor *doctor)
{
	struct doctor_check *check;
	char value[32];

	look_at_paranoia(doctor);
	if (doctor_read_line("/proc/sys/kernel/unprivileged_bpf_disabled", value, sizeof(value)))
		doctor_add(doctor, "unprivileged_bpf_disabled", DOCTOR_OK, "%s; CAP_BPF passes it",
			   value);
	if (doctor_read_line("/proc/sys/net/core/bpf_jit_enable", value, sizeof(value)) &&
	    !strcmp(value, "0")) {
		check = doctor_add(
			doctor, "bpf_jit", DOCTOR_WARNING,
			"off: programs are interpreted, and cost the job several times more");
		doctor_advise(check, "sudo sysctl net.core.bpf_jit_enable=1");
	}
}

void doctor_look_at_kernel(struct doctor *doctor)
{
	look_at_version(doctor);
	look_at_btf(doctor);
	look_at_lockdown(doctor);
	look_at_capabilities(doctor);
	look_at_tracefs(doctor);
	look_at_settings(doctor);
}
