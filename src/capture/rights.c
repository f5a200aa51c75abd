#include "capture/rights.h"

#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/caps.h"

#define BTF_PATH	    "/sys/kernel/btf/vmlinux"
#define LOADING		    (CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON))
#define FIRST_PID_NAMESPACE 0xeffffffc /* the kernel's PROC_PID_INIT_INO */

static const char *own_path(char *out, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", out, size - 1);

	if (length <= 0)
		return "strata";
	out[length] = 0;
	return out;
}

const char *rights_recipe(char *out, size_t size)
{
	char path[PATH_MAX];

	own_path(path, sizeof(path));
	/* The owner and the group come first: changing them takes capabilities away. */
	snprintf(out, size,
		 "sudo groupadd -f strata && sudo chown root:strata %s && sudo chmod 0750 %s && "
		 "sudo setcap cap_bpf,cap_perfmon+ep %s",
		 path, path, path);
	return out;
}

/* Whether a container took this user's rights: then nobody inside of it can give them back. */
static bool in_container(void)
{
	struct stat namespace;

	return !stat("/proc/self/ns/pid", &namespace) && namespace.st_ino != FIRST_PID_NAMESPACE;
}

static int rights_lack(const char *what, struct error *e)
{
	char recipe[RIGHTS_RECIPE_BYTES];

	if (in_container())
		return error_set(
			e, -EPERM,
			"recording needs the capability %s, which this container was not given: "
			"start it with 'docker run --cap-add BPF --cap-add PERFMON', or the like "
			"of other engines, or record it from outside with --container",
			what);
	return error_set(e, -EPERM,
			 "recording needs the capability %s, which this user lacks: run it with "
			 "sudo, or let the members of a group record: '%s'",
			 what, rights_recipe(recipe, sizeof(recipe)));
}

int rights_check(struct error *e)
{
	uint64_t have = caps_effective();
	bool bpf = have & CAP_BIT(CAP_BPF), perfmon = have & CAP_BIT(CAP_PERFMON);

	if (have & CAP_BIT(CAP_SYS_ADMIN))
		bpf = perfmon = true;
	if (!bpf || !perfmon)
		return rights_lack(bpf	     ? "CAP_PERFMON"
				   : perfmon ? "CAP_BPF"
					     : "CAP_BPF and CAP_PERFMON",
				   e);
	if (access(BTF_PATH, R_OK))
		return error_set(
			e, -ENOTSUP,
			"this kernel offers no type information: " BTF_PATH
			" is not there; a kernel built with CONFIG_DEBUG_INFO_BTF=y has it");
	return 0;
}

/* ---- whom the caller may see ---- */

static bool in_group(gid_t group)
{
	int count = getgroups(0, NULL);
	gid_t *groups = calloc(count > 0 ? (size_t)count : 1, sizeof(*groups));
	bool found = getgid() == group;

	if (groups && count > 0)
		count = getgroups(count, groups);
	for (int i = 0; groups && i < count; i++)
		found |= groups[i] == group;
	free(groups);
	return found;
}

/* Whether root has given the program to a group alone, and the caller is in it. An owner other than root could change
 * the mode by themselves. */
static bool trusted_by_group(void)
{
	struct stat program;

	return !stat("/proc/self/exe", &program) && !program.st_uid &&
	       !(program.st_mode & S_IXOTH) && program.st_mode & S_IXGRP &&
	       in_group(program.st_gid);
}

bool rights_see_all(void)
{
	return caps_root() || !caps_secure() || trusted_by_group();
}

/* What only those may read who may trace the process. */
static bool may_trace(pid_t pid)
{
	char name[32], target[PATH_MAX];

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	return readlink(name, target, sizeof(target)) >= 0;
}

int rights_narrow(struct session_config *config, struct error *e)
{
	static const char only[] = "with the rights that this program's file gives, you record "
				   "your own processes only; use sudo, or ask to be let into a "
				   "group that may see all (docs/security.md)";

	if (rights_see_all())
		return 0;
	config->own_only = true;
	if (!config->command && !config->pid_count)
		return error_set(e, -EPERM, "cannot record the whole machine (-a): %s", only);
	if (config->scope == SCOPE_ALL)
		return error_set(e, -EPERM, "cannot record everybody (--scope all): %s", only);
	config->scope = SCOPE_JOB;
	for (size_t i = 0; i < config->pid_count; i++)
		if (!may_trace(config->pids[i]))
			return error_set(e, -EPERM,
					 "cannot record process %d, which is not yours: %s",
					 (int)config->pids[i], only);
	return 0;
}

/* ---- giving up ---- */

/* Whether /proc hides processes of other users from all but those who may trace them. */
static bool proc_hides(void)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	char line[2 * PATH_MAX];
	bool hides = false;

	while (mounts && fgets(line, sizeof(line), mounts))
		if (strstr(line, " /proc ") && strstr(line, " - proc "))
			hides = strstr(line, "hidepid=") && !strstr(line, "hidepid=0") &&
				!strstr(line, "hidepid=off");
	if (mounts)
		fclose(mounts);
	return hides;
}

/* What a recording under way needs. Maps and iterators are used through descriptors, which takes no right on kernels from
 * 5.18 on; older ones are asked. */
static int rights_needed(const struct session_config *config, const struct kernel *kernel,
			 uint64_t *needed, struct error *e)
{
	int err;

	*needed = 0;
	if (caps_root()) {
		*needed |= CAP_BIT(CAP_KILL); /* the command gets signals whoever it has become */
		if (config->rotate &&
		    !config->invoker.change) /* files to come, in whoever's folder */
			*needed |= CAP_BIT(CAP_DAC_OVERRIDE);
		if (config->log && !config->invoker.change)
			*needed |= CAP_BIT(CAP_DAC_READ_SEARCH);
		if (proc_hides())
			*needed |= CAP_BIT(CAP_SYS_PTRACE);
	}
	err = caps_use(*needed, e);
	if (!err && !kernel_reachable(kernel))
		*needed |= LOADING | CAP_BIT(CAP_SYS_ADMIN);
	return err ? err : caps_use(UINT64_MAX, e);
}

int rights_give_up(const struct session_config *config, const struct kernel *kernel,
		   struct error *e)
{
	const struct account *user = &config->invoker;
	uint64_t needed;
	int err = rights_needed(config, kernel, &needed, e);

	if (err)
		return err;
	if (user->change) {
		if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || initgroups(user->name, user->gid) ||
		    setresgid(user->gid, user->gid, user->gid) ||
		    setresuid(user->uid, user->uid, user->uid) ||
		    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
			return error_errno(e, "cannot become user '%s'", user->name);
	}
	return caps_keep(needed, e);
}
