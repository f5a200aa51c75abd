#!/usr/bin/env bats
# Under sudo the command runs as the invoking user, and the trace belongs to that user.

load lib

USER_NAME=strata-test-user

setup_file() {
	need_bpf
	[ -z "$REFUSED" ] || return 0
	command -v sudo >/dev/null || REFUSED="sudo is not installed"
	[ -z "$REFUSED" ] || return 0
	userdel -r $USER_NAME 2>/dev/null || true
	useradd --create-home --groups users,games $USER_NAME
	echo "$USER_NAME ALL=(root) NOPASSWD: ALL" >/etc/sudoers.d/$USER_NAME
	chmod 440 /etc/sudoers.d/$USER_NAME
}

teardown_file() {
	rm -f /etc/sudoers.d/$USER_NAME
	! id $USER_NAME >/dev/null 2>&1 || userdel -r $USER_NAME 2>/dev/null
}

setup() {
	enter
	home=$(getent passwd $USER_NAME | cut -d: -f6)
	RUN=$home/run.strata
	rm -f "$RUN"
}

teardown() { leave; }

# as_user CMD...: as the user would type it, in the user's home.
as_user() {
	(cd "$home" && setpriv --reuid $USER_NAME --regid $USER_NAME --init-groups \
		env -i HOME="$home" USER=$USER_NAME LOGNAME=$USER_NAME PATH="$PATH" "$@" 2>"$T/words" 3>&-)
}

@test "user, groups, HOME, USER and working directory are the user's" {
	same id "$(as_user id)" "$(as_user sudo -n "$STRATA" record --force -o "$RUN" -- id)"
	for name in HOME USER LOGNAME; do
		same $name "$(as_user printenv $name)" "$(as_user sudo -n "$STRATA" record --force -o "$RUN" -- printenv $name)"
	done
	same "working directory" "$home" "$(as_user sudo -n "$STRATA" record --force -o "$RUN" -- pwd)"
}

@test "no capability of root's is left to the command" {
	same capabilities "$(as_user grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status)" \
		"$(as_user sudo -n "$STRATA" record -o "$RUN" -- grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status)"
}

@test "the trace belongs to the user, and the user can read it" {
	as_user sudo -n "$STRATA" record --scope job -e io -o "$RUN" -- cat /etc/hostname >/dev/null
	same owner "$USER_NAME:$USER_NAME" "$(stat -c %U:%G "$RUN")"
	same "rows' user" "$(id -u $USER_NAME)" "$(rows process "event == 'exec' and comm == 'cat'" uid)"
	cp "$STRATA" "$home/strata"
	as_user ./strata info run.strata >info
	says info "cat /etc/hostname"
}

@test "root by itself, without sudo, stays root" {
	same id "$(id)" "$(record -- id)"
}
