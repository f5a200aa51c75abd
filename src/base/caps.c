#include "base/caps.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct caps {
	uint64_t effective, permitted;
};

static bool caps_get(struct caps *caps)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	if (syscall(SYS_capget, &header, data))
		return false;
	caps->effective = (uint64_t)data[1].effective << 32 | data[0].effective;
	caps->permitted = (uint64_t)data[1].permitted << 32 | data[0].permitted;
	return true;
}

/* The inheritable ones are none, unless they are to pass an execve. */
static int caps_set(const struct caps *caps, uint64_t inheritable, struct error *e)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ (uint32_t)caps->effective, (uint32_t)caps->permitted, (uint32_t)inheritable },
		{ (uint32_t)(caps->effective >> 32), (uint32_t)(caps->permitted >> 32),
		  (uint32_t)(inheritable >> 32) },
	};

	if (syscall(SYS_capset, &header, data))
		return error_errno(e, "cannot change capabilities");
	return 0;
}

bool caps_secure(void)
{
	return getauxval(AT_SECURE);
}

bool caps_root(void)
{
	return !getuid() && !geteuid();
}

uint64_t caps_effective(void)
{
	struct caps caps;

	return caps_get(&caps) ? caps.effective : 0;
}

int caps_keep(uint64_t keep, struct error *e)
{
	struct caps caps;

	if (!caps_get(&caps))
		return error_errno(e, "cannot read the capabilities");
	caps.permitted &= keep;
	caps.effective = caps.permitted;
	/* Kernels before 4.3 have no ambient ones. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) && errno != EINVAL)
		return error_errno(e, "cannot give up ambient capabilities");
	return caps_set(&caps, 0, e);
}

int caps_pass_on(struct error *e)
{
	struct caps caps;
	int err;

	if (!caps_get(&caps))
		return error_errno(e, "cannot read the capabilities");
	err = caps_set(&caps, caps.permitted, e);
	for (unsigned long cap = 0; !err && cap <= CAP_LAST_CAP; cap++)
		if (caps.permitted & CAP_BIT(cap) &&
		    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0))
			err = error_errno(e, "cannot pass capability %lu on", cap);
	return err;
}

int caps_use(uint64_t these, struct error *e)
{
	struct caps caps;

	if (!caps_get(&caps))
		return error_errno(e, "cannot read the capabilities");
	caps.effective = caps.permitted & these;
	return caps_set(&caps, 0, e);
}

int caps_settle_ids(struct error *e)
{
	uid_t user = getuid();
	gid_t group = getgid();

	if ((getegid() != group && setresgid(group, group, group)) ||
	    (geteuid() != user && setresuid(user, user, user)))
		return error_errno(e, "cannot become the user who calls");
	return 0;
}

int caps_give_up(struct error *e)
{
	return caps_keep(caps_root() ? CAPS_ROOT_FILES : 0, e);
}
