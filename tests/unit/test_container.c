/* The container that a control group belongs to, by paths as engines write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/container.h"

#define ID  "3f4e2a1b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f"
#define ID2 "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void assert_name(struct container_name name, const char *expected)
{
	if (!expected) {
		assert_null(name.text);
		return;
	}
	assert_non_null(name.text);
	assert_int_equal(name.size, strlen(expected));
	assert_memory_equal(name.text, expected, name.size);
}

static void engines_write_the_id_in_their_ways(void **state)
{
	static const char *const paths[] = {
		/* Docker: systemd, v2; cgroupfs, v1 and v2; inside another group */
		"/system.slice/docker-" ID ".scope",
		"/docker/" ID,
		"/user.slice/user-1000.slice/user@1000.service/docker-" ID ".scope",
		"/docker/" ID "/init",
		/* Kubernetes with containerd, CRI-O and Docker; systemd and cgroupfs */
		"/kubepods.slice/kubepods-burstable.slice/"
		"kubepods-burstable-pod1f2e3d4c_5b6a_7980_a1b2_c3d4e5f60718.slice/"
		"cri-containerd-" ID ".scope",
		"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod12.slice/"
		"crio-" ID ".scope/container",
		"/kubepods/burstable/pod1f2e3d4c-5b6a-7980-a1b2-c3d4e5f60718/" ID,
		"/kubepods-burstable-pod12.slice:cri-containerd:" ID,
		"/system.slice/containerd.service/"
		"kubepods-burstable-pod12.slice:cri-containerd:" ID,
		"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod12.slice/"
		"cri-containerd-" ID ".scope",
		/* Podman: rootful, rootless, with a group below */
		"/machine.slice/libpod-" ID ".scope",
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID
		".scope/container",
		"/libpod_parent/libpod-" ID,
		/* nerdctl */
		"/system.slice/nerdctl-" ID ".scope",
		/* Docker in Docker: the inner one */
		"/docker/" ID2 "/docker/" ID,
		"/system.slice/docker-" ID2 ".scope/docker/" ID "/user.slice",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_name(container_of_group(paths[i]), ID);
}

static void others_write_a_name(void **state)
{
	(void)state;
	assert_name(container_of_group("/user.slice/runc-job7.scope"), "job7");
	assert_name(container_of_group("/system.slice/crun-a-b.scope"), "a-b");
	assert_name(container_of_group("/machine.slice/machine-web.scope/payload"), "web");
	assert_name(container_of_group("/machine.slice/systemd-nspawn@web.service/payload"), "web");
	assert_name(container_of_group("/lxc.payload.web/system.slice/cron.service"), "web");
	assert_name(container_of_group("/lxc/web/init.scope"), "web");
	assert_name(container_of_group("/lxc.payload/web"), "web");
}

static void what_is_no_container_has_none(void **state)
{
	static const char *const paths[] = {
		"/",
		"",
		"/init.scope",
		"/user.slice/user-0.slice/session-3.scope",
		"/system.slice/docker.service",
		"/system.slice/containerd.service",
		"/machine.slice/libpod-conmon-" ID ".scope",
		"/kubepods.slice/kubepods-pod12.slice/crio-conmon-" ID ".scope",
		"/lxc.monitor.web",
		"/machine.slice/machine-qemu\\x2d1\\x2dweb.scope",
		"/kubepods/burstable/pod1f2e3d4c-5b6a-7980-a1b2-c3d4e5f60718",
		"/a/3f4e2a1b9c8d",			     /* too short for an id */
		("/a/x" ID),				     /* no separator */
		"/service/7a469cfe078f7f12fae35797b7db0710", /* some other 32 digits */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		assert_name(container_of_group(paths[i]), NULL);
}

static void runc_calls_the_group_as_the_container(void **state)
{
	(void)state;
	assert_name(container_bare("/job7"), "job7");
	assert_name(container_bare("/user.slice/job7"), "job7");
	assert_name(container_bare("/default/job7"), "job7");
	assert_name(container_bare("/"), NULL);
	assert_name(container_bare("/user.slice"), NULL);
	assert_name(container_bare("/user.slice/app-browser-12.scope"), NULL);
	assert_name(container_bare("/system.slice/sshd.service"), NULL);
}

static void the_container_s_own_group_is_found(void **state)
{
	static const char path[] = "/docker/" ID "/below/it";
	struct container_name name = container_of_group(path);

	(void)state;
	assert_int_equal(name.end, strlen("/docker/" ID));
}

static void people_write_the_beginning_of_an_id(void **state)
{
	struct container_name id = container_of_group("/docker/" ID);
	struct container_name name = container_bare("/job7");

	(void)state;
	assert_true(container_is(&id, ID));
	assert_true(container_is(&id, "3f4e2a1b9c8d"));
	assert_false(container_is(&id, "3f4"));
	assert_false(container_is(&id, "4f4e2a1b9c8d"));
	assert_false(container_is(&id, ID "0"));
	assert_true(container_is(&name, "job7"));
	assert_false(container_is(&name, "job"));
	assert_false(container_is(&name, "job77"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines_write_the_id_in_their_ways),
		cmocka_unit_test(others_write_a_name),
		cmocka_unit_test(what_is_no_container_has_none),
		cmocka_unit_test(runc_calls_the_group_as_the_container),
		cmocka_unit_test(the_container_s_own_group_is_found),
		cmocka_unit_test(people_write_the_beginning_of_an_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
