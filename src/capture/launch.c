#include "capture/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/caps.h"

#define ENVIRONMENT_LIMIT (16u << 20)

static int account_look_up(struct account *account, const char *user, struct error *e)
{
	const struct passwd *entry;

	errno = 0;
	entry = getpwnam(user);
	if (!entry)
		return error_set(e, -ENOENT, "no user '%s' on this machine", user);
	account->change = true;
	account->uid = entry->pw_uid;
	account->gid = entry->pw_gid;
	snprintf(account->name, sizeof(account->name), "%s", entry->pw_name);
	snprintf(account->home, sizeof(account->home), "%s", entry->pw_dir);
	snprintf(account->shell, sizeof(account->shell), "%s", entry->pw_shell);
	return 0;
}

int account_find_invoker(struct account *account, struct error *e)
{
	const char *user = secure_getenv("SUDO_USER");

	*account = (struct account){ .uid = getuid(), .gid = getgid() };
	/* Only root's own environment tells who called sudo. */
	if (!caps_root() || !user || !*user || !strcmp(user, "root"))
		return 0;
	return account_look_up(account, user, e);
}

int account_find(struct account *account, const struct account *invoker, const char *user,
		 struct error *e)
{
	*account = *invoker;
	if (!user)
		return 0;
	if (!caps_root())
		return error_set(e, -EPERM, "-u %s: only root may run a command as another user",
				 user);
	return account_look_up(account, user, e);
}

/* Takes back what the loader took out of the environment because strata has rights that its caller lacks: the command has
 * none of them. What cannot be read stays as it is. */
static void environment_restore(void)
{
	struct buf text = { .limit = ENVIRONMENT_LIMIT };
	int fd = open("/proc/self/environ", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : 1;

	while (got > 0) {
		char *room = buf_reserve(&text, 65536);

		got = room ? read(fd, room, 65535) : -1;
		text.size += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0)
		close(fd);
	if (got || !text.size)
		return buf_free(&text);
	text.data[text.size] = 0;
	for (char *at = (char *)text.data; at < (char *)text.data + text.size; at += strlen(at) + 1)
		if (strchr(at, '=')) /* stays for as long as the command's environment */
			putenv(at);
}

/* The command gets none of the rights that strata has by its file, or from whoever started it. Root stays root: execve
 * gives it its own. */
static int rights_leave(void)
{
	struct error ignored;
	int err = caps_keep(caps_root() ? UINT64_MAX : 0, &ignored);

	if (!err && caps_secure()) {
		prctl(PR_SET_DUMPABLE, 1); /* there is nothing to hide now, and /proc opens */
		environment_restore();
	}
	return err;
}

static int account_become(const struct account *account)
{
	if (!account->change)
		return rights_leave();
	if (initgroups(account->name, account->gid) || setgid(account->gid) || setuid(account->uid))
		return -errno;
	setenv("HOME", account->home, 1);
	setenv("USER", account->name, 1);
	setenv("LOGNAME", account->name, 1);
	setenv("SHELL", account->shell, 1);
	return rights_leave();
}

int launch_directly(char **command, const struct account *account, struct error *e)
{
	int err;

	if (account->change)
		terminal_leave();
	err = account_become(account);
	if (!err) {
		execvp(command[0], command);
		err = -errno;
	}
	return error_set(e, err, "cannot run '%s': %s", command[0], strerror(-err));
}

/* The child. Nothing here may be seen by the command: descriptors close on exec, the mask is put back. */
static void child_run(const struct launch_command *command, const struct terminal *terminal,
		      int gate, int fault)
{
	char byte;
	int err;

	if (read(gate, &byte, 1) != 1)
		_exit(125); /* strata gave up */
	err = -terminal_enter(terminal);
	if (!err)
		err = -account_become(command->account);
	if (!err)
		err = -environment_enter(command->environment);
	if (!err) {
		sigprocmask(SIG_SETMASK, command->mask, NULL);
		execvp(command->arguments[0], command->arguments);
		err = errno;
	}
	if (write(fault, &err, sizeof(err)) != sizeof(err))
		_exit(125);
	_exit(err == ENOENT ? 127 : 126);
}

int launch_fork(struct launch *launch, const struct launch_command *command, struct error *e)
{
	int gate[2] = { -1, -1 }, fault[2] = { -1, -1 };
	int err = 0;

	if (command->account->change)
		err = terminal_open(&launch->terminal, command->account->uid, e);
	if (err)
		return err;
	if (pipe2(gate, O_CLOEXEC) || pipe2(fault, O_CLOEXEC)) {
		err = error_errno(e, "cannot make a pipe");
		goto out;
	}
	launch->pid = fork();
	if (launch->pid < 0) {
		err = error_errno(e, "cannot fork");
		launch->pid = 0;
		goto out;
	}
	if (!launch->pid) {
		close(gate[1]);
		close(fault[0]);
		child_run(command, &launch->terminal, gate[0], fault[1]);
	}
	launch->gate = gate[1];
	launch->fault = fault[0];
	gate[1] = fault[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		if (gate[i] >= 0)
			close(gate[i]);
		if (fault[i] >= 0)
			close(fault[i]);
	}
	return err;
}

int launch_go(struct launch *launch)
{
	struct error ignored;
	int err = 0;
	ssize_t got;

	if (write(launch->gate, "g", 1) != 1)
		return -errno;
	do
		got = read(launch->fault, &err, sizeof(err));
	while (got < 0 && errno == EINTR);
	close(launch->gate);
	close(launch->fault);
	launch->gate = launch->fault = -1;
	if (got == sizeof(err))
		return -err;
	err = terminal_relay(&launch->terminal, launch->pid, &ignored);
	if (err)
		kill(launch->pid, SIGKILL); /* it could neither be seen nor spoken to */
	return err;
}

void launch_make_room(struct launch *launch, bool over)
{
	if (over)
		terminal_settle(&launch->terminal);
	else
		terminal_make_room(&launch->terminal);
}

void launch_close(struct launch *launch)
{
	terminal_close(&launch->terminal);
	if (!launch->pid || launch->gate < 0)
		return;
	close(launch->gate);
	close(launch->fault);
	waitpid(launch->pid, NULL, 0);
	launch->pid = 0;
}
