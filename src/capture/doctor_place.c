/* What the doctor finds about the place that strata runs in: namespaces, containers, filters of system calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/doctor.h"

/* The machine's own namespaces have fixed inode numbers (include/linux/proc_ns.h). */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDu
#define FIRST_PID_NAMESPACE  0xEFFFFFFCu

static bool is_namespace(const char *name, unsigned number)
{
	char path[64];
	struct stat about;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	return stat(path, &about) || about.st_ino == number;
}

/* A word for the container that the files around tell of; NULL: none does. */
static const char *container_hint(char *scratch, size_t size)
{
	FILE *file;

	if (!access("/.dockerenv", F_OK))
		return "docker";
	if (!access("/run/.containerenv", F_OK))
		return "podman";
	if (doctor_read_line("/run/systemd/container", scratch, size))
		return scratch;
	file = fopen("/proc/1/cgroup", "re");
	while (file && fgets(scratch, (int)size, file)) {
		static const char *const words[] = { "docker", "kubepods", "containerd", "libpod",
						     "lxc" };

		for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
			if (strstr(scratch, words[i])) {
				fclose(file);
				return words[i];
			}
	}
	if (file)
		fclose(file);
	return NULL;
}

static void look_at_namespaces(struct doctor *doctor)
{
	bool user = is_namespace("user", FIRST_USER_NAMESPACE);
	bool pid = is_namespace("pid", FIRST_PID_NAMESPACE);
	struct doctor_check *check;
	char scratch[256];
	const char *hint = container_hint(scratch, sizeof(scratch));

	if (user && pid && !hint) {
		doctor_add(doctor, "container", DOCTOR_OK, "none");
		return;
	}
	check = doctor_add(doctor, "container",
			   !user ? DOCTOR_MISSING
			   : pid ? DOCTOR_NOTE
				 : DOCTOR_WARNING,
			   "%s%s%s%s", hint ? hint : "namespaces of its own", hint ? "; " : ": ",
			   user ? "the machine's users"
				: "users of its own, whose rights do not count in the kernel",
			   pid ? ", the machine's pids"
			       : ", pids of its own: processes outside have none");
	if (!user)
		doctor_advise(check, "record on the host, or start the container without a user "
				     "namespace: docker run --userns=host --pid=host --privileged");
	else if (!pid)
		doctor_advise(check, "for pids of the whole machine: docker run --pid=host, in "
				     "Kubernetes hostPID: true");
}

/* A filter may refuse bpf(2) whatever the capabilities say; the trial tells. */
static void look_at_seccomp(struct doctor *doctor)
{
	FILE *status = fopen("/proc/self/status", "re");
	struct doctor_check *check;
	char line[256];
	int mode = 0;

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "Seccomp:", 8))
			mode = atoi(line + 8);
	if (status)
		fclose(status);
	if (!mode) {
		doctor_add(doctor, "seccomp", DOCTOR_OK, "no filter");
		return;
	}
	check = doctor_add(doctor, "seccomp", DOCTOR_NOTE,
			   "system calls are filtered: bpf and perf_event_open must be allowed");
	doctor_advise(check,
		      "if hooks do not attach: docker run --security-opt seccomp=unconfined");
}

void doctor_look_at_place(struct doctor *doctor)
{
	look_at_namespaces(doctor);
	look_at_seccomp(doctor);
}
