# Control groups (version 1) that a test has for itself, until it ends. `load groups` after `load lib`.

# group CONTROLLER: a control group (version 1), $GROUP, until the test ends.
group() {
	local mount

	mount=$(awk -v controller="$1" '$3 == "cgroup" && $4 ~ "(^|,)" controller "(,|$)" { print $2; exit }' /proc/mounts)
	[ -n "$mount" ] || skip "no hierarchy of control groups with $1"
	GROUP=$mount$(awk -F: -v controller="$1" '$2 ~ "(^|,)" controller "(,|$)" { print $3 == "/" ? "" : $3 }' /proc/self/cgroup)/strata-test-$$
	undo sh -c '[ ! -d "$0" ] || { while read -r pid; do echo "$pid" >"${0%/*}/cgroup.procs"; done <"$0/cgroup.procs"; rmdir "$0"; }' "$GROUP"
	mkdir "$GROUP"
}
