#include "capture/identity.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/caps.h"

#define NO_ID ((uid_t)-1) /* asks for the present one */

/* The library's own function would change every thread. */
static int set_groups(int count, const gid_t *groups)
{
	return (int)syscall(SYS_setgroups, (long)count, groups);
}

static int enter_groups(const struct account *user)
{
	int count = 0, err = -ENOMEM;
	gid_t *groups = NULL;

	getgrouplist(user->name, user->gid, NULL, &count); /* tells how many there are */
	if (count > 0)
		groups = calloc((size_t)count, sizeof(*groups));
	if (groups && getgrouplist(user->name, user->gid, groups, &count) >= 0)
		err = set_groups(count, groups) ? -errno : 0;
	free(groups);
	return err;
}

static int enter_user(struct identity *identity, const struct account *user)
{
	int err;

	identity->group_count = getgroups(0, NULL);
	if (identity->group_count < 0)
		return -errno;
	identity->groups = calloc((size_t)identity->group_count + 1, sizeof(gid_t));
	if (!identity->groups)
		return -ENOMEM;
	identity->group_count = getgroups(identity->group_count, identity->groups);
	if (identity->group_count < 0)
		return -errno;
	err = enter_groups(user);
	if (err)
		return err;
	identity->changed = true;
	setfsgid(user->gid);
	setfsuid(user->uid); /* takes root's capabilities over files out of effect as well */
	return (uid_t)setfsuid(NO_ID) == user->uid && (gid_t)setfsgid(NO_ID) == user->gid ? 0
											  : -EPERM;
}

int identity_enter(struct identity *identity, const struct account *user, struct error *e)
{
	int err;

	*identity = (struct identity){ .effective = caps_effective() };
	/* Root has its own rights; others not those of the program's file. */
	if (!user->change || geteuid() == user->uid)
		return caps_root() ? 0 : caps_use(0, e);
	err = enter_user(identity, user);
	if (err) {
		identity_leave(identity);
		return error_set(e, err, "cannot take the rights of user '%s'", user->name);
	}
	return 0;
}

void identity_leave(struct identity *identity)
{
	struct error ignored;

	if (identity->changed) {
		setfsuid(geteuid());
		setfsgid(getegid());
		set_groups(identity->group_count, identity->groups);
	}
	caps_use(identity->effective, &ignored);
	free(identity->groups);
	*identity = (struct identity){ 0 };
}
