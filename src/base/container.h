/* Which container a control group belongs to: the one place where that is decided, by the group's path alone.
 *
 * The name of a container is in the path of its group, in the engines' own ways of writing it:
 *
 *     docker-ID.scope  libpod-ID.scope  crio-ID.scope  cri-containerd-ID.scope     a scope of systemd's
 *     /docker/ID  /kubepods/.../podUID/ID  pod-UID.slice:cri-containerd:ID         cgroupfs
 *     runc-NAME.scope  crun-NAME.scope  machine-NAME.scope  lxc.payload.NAME  /lxc/NAME
 *
 * where ID are 64 hexadecimal digits. Monitors (conmon, lxc.monitor) and virtual machines are no containers. What runs in
 * groups below a container's is in that container; of two that are nested the inner one counts.
 *
 * runc by itself names the group as the container is called, and nothing tells such a name from any other: that is a
 * container's only if what runs in it has a PID namespace of its own and was moved to the group.
 */
#ifndef STRATA_BASE_CONTAINER_H
#define STRATA_BASE_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

struct container_name {
	const char *text; /* within the path; NULL: no container's */
	size_t size;
	size_t end; /* of the path of the container's own group */
};

/* By an engine's way of writing it. */
struct container_name container_of_group(const char *path);

/* Of a group whose processes are known to be set apart: its last name, unless it is one of systemd's units. */
struct container_name container_bare(const char *path);

/* Whether somebody who asks for `wanted` means this one: its name, or the first 4 or more digits of an id. */
bool container_is(const struct container_name *name, const char *wanted);

#endif
