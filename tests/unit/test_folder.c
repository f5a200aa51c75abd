/* What recorders leave behind when they are killed, and who takes it away: never from one that lives, nor from a job that needs it. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "inject/place.h"

/* A recorder of our own, in a process that can be killed. */
static pid_t recorder_pid;
struct recorder_files {
	char pool[PATH_MAX], library[PATH_MAX];
};
static struct recorder_files *recorder; /* in memory that both see */

static void record_until_killed(int ready)
{
	struct place_users users = { getuid(), getgid(), getuid(), getgid() };
	struct place place;
	struct error e;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL); /* not to outlive a test that fails */
	place_open(&place, &users);
	if (!place_make_file(&place, "pool", 4096, &fd, recorder->pool, &e) &&
	    !place_write_library(&place, "library.so", "\177ELF", 4, recorder->library, &e) &&
	    write(ready, "", 1) == 1)
		pause();
	_exit(1);
}

static int begin(void **state)
{
	int ready[2];
	char byte;

	(void)state;
	recorder = mmap(NULL, sizeof(*recorder), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			-1, 0);
	assert_ptr_not_equal(recorder, MAP_FAILED);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	recorder_pid = fork();
	if (!recorder_pid)
		record_until_killed(ready[1]);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return 0;
}

static void end_process(pid_t *pid)
{
	if (!*pid)
		return;
	kill(*pid, SIGKILL);
	assert_int_equal(waitpid(*pid, NULL, 0), *pid);
	*pid = 0;
}

static int end(void **state)
{
	char *folders[] = { recorder->library, recorder->pool };

	(void)state;
	end_process(&recorder_pid);
	for (unsigned i = 0; i < 2; i++) {
		unlink(folders[i]);
		*strrchr(folders[i], '/') = 0;
		rmdir(folders[i]);
	}
	munmap(recorder, sizeof(*recorder));
	return 0;
}

static void look_for_leftovers(void)
{
	folder_remove_leftovers(getuid(), "pool");
}

static void assert_there(bool pool, bool library)
{
	assert_int_equal(!access(recorder->pool, F_OK), pool);
	assert_int_equal(!access(recorder->library, F_OK), library);
}

static void assert_no_folder(const char *file)
{
	char folder[PATH_MAX];

	strcpy(folder, file);
	*strrchr(folder, '/') = 0;
	assert_int_not_equal(access(folder, F_OK), 0);
}

/* A program that sleeps: with the library in its environment, or with none of it. */
static pid_t start_program(const char *variable)
{
	char *arguments[] = { "sleep", "60", NULL }, text[PATH_MAX + 32];
	char *environment[] = { text, NULL };
	int done[2];
	pid_t pid;
	char byte;

	snprintf(text, sizeof(text), "%s=%s", variable, recorder->library);
	assert_int_equal(pipe2(done, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		execve("/bin/sleep", arguments, *variable ? environment : environment + 1);
		_exit(127);
	}
	close(done[1]);
	assert_int_equal(read(done[0], &byte, 1), 0); /* closed by exec */
	close(done[0]);
	return pid;
}

/* ---- */

static void a_recorder_that_lives_keeps_all(void **state)
{
	(void)state;
	look_for_leftovers();
	assert_there(true, true);
}

static void of_a_killed_one_nothing_stays(void **state)
{
	(void)state;
	end_process(&recorder_pid);
	assert_there(true, true); /* nobody has looked yet */
	look_for_leftovers();
	assert_no_folder(recorder->pool);
	assert_no_folder(recorder->library);
}

static void a_job_that_may_load_the_library_keeps_it(void **state)
{
	pid_t job = start_program("NAMES_IT");

	(void)state;
	end_process(&recorder_pid);
	look_for_leftovers();
	assert_there(false, true);
	end_process(&job);
	look_for_leftovers();
	assert_no_folder(recorder->library);
}

static void so_does_one_that_has_it_mapped(void **state)
{
	int fd = open(recorder->library, O_RDONLY | O_CLOEXEC);
	void *code = mmap(NULL, 4, PROT_READ, MAP_PRIVATE, fd, 0);

	(void)state;
	close(fd);
	assert_ptr_not_equal(code, MAP_FAILED);
	end_process(&recorder_pid);
	look_for_leftovers();
	assert_there(false, true);
	munmap(code, 4);
	look_for_leftovers();
	assert_no_folder(recorder->library);
}

static void programs_that_have_nothing_of_it_do_not(void **state)
{
	pid_t other = start_program("");

	(void)state;
	end_process(&recorder_pid);
	look_for_leftovers();
	end_process(&other);
	assert_no_folder(recorder->library);
}

static void what_others_left_is_theirs(void **state)
{
	(void)state;
	end_process(&recorder_pid);
	folder_remove_leftovers(getuid() + 1, "pool");
	assert_there(true, true);
}

/* Whether its job lives cannot be told from here. */
static void so_is_what_another_namespace_left(void **state)
{
	char folder[] = "/tmp/strata-job-1-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	look_for_leftovers();
	assert_int_equal(rmdir(folder), 0);
}

static void a_link_is_not_followed(void **state)
{
	char target[] = "/tmp/strata-test.XXXXXX", file[PATH_MAX], name[PATH_MAX];

	(void)state;
	assert_non_null(mkdtemp(target));
	snprintf(file, sizeof(file), "%s/pool", target);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	strcpy(name, recorder->pool);
	*strrchr(name, '/') = 0;
	strcpy(name + strlen(name) - 6, "a_link");
	assert_int_equal(symlink(target, name), 0);
	look_for_leftovers();
	assert_int_equal(access(file, F_OK), 0);
	assert_int_equal(unlink(name) | unlink(file) | rmdir(target), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(a_recorder_that_lives_keeps_all),
		TEST(of_a_killed_one_nothing_stays),
		TEST(a_job_that_may_load_the_library_keeps_it),
		TEST(so_does_one_that_has_it_mapped),
		TEST(programs_that_have_nothing_of_it_do_not),
		TEST(what_others_left_is_theirs),
		TEST(so_is_what_another_namespace_left),
		TEST(a_link_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
