#!/usr/bin/env bats
# Under sudo the command runs as the invoking user, and the trace belongs to that user. The machine does not get that user:
# the tests run in a mount namespace with an /etc and a /run of its own.

load lib

USER_NAME=strata-test-user

setup_file() {
	need_bpf
	[ -z "$REFUSED" ] || return 0
	command -v sudo >/dev/null || REFUSED="sudo is not installed"
	[ -z "$REFUSED" ] || return 0
	T=$BATS_FILE_TMPDIR
	cp -a /etc "$T/etc"
	mkdir "$T/run"
	open_folder
	export HOME_DIR=$OPEN/home
	background unshare --mount --propagation private sh -c "
		mount --bind '$T/etc' /etc && mount --bind '$T/run' /run || exit
		useradd --no-log-init --create-home --home-dir $HOME_DIR --groups users,games $USER_NAME
		echo '$USER_NAME ALL=(root) NOPASSWD: ALL' >/etc/sudoers.d/$USER_NAME
		chmod 440 /etc/sudoers.d/$USER_NAME
		echo ready
		exec sleep infinity"
	export KEEPER=$PID
	within 20 grep -q ready "$T/out"
}

teardown_file() { leave; }

setup() {
	enter
	RUN=$HOME_DIR/run.strata
	rm -f "$RUN"
}

teardown() { leave; }

# there CMD...: where the user is.
there() {
	nsenter --mount --target "$KEEPER" "$@"
}

# as_user CMD...: as the user would type it, in the user's home.
as_user() {
	there sh -c "cd $HOME_DIR && exec setpriv --reuid $USER_NAME --regid $USER_NAME --init-groups \"\$@\"" sh \
		env -i HOME=$HOME_DIR USER=$USER_NAME LOGNAME=$USER_NAME PATH="$PATH" "$@" 2>"$T/words" 3>&-
}

# recorded ARGS... -- CMD...: what CMD prints under sudo and strata.
recorded() {
	as_user sudo -n "$STRATA" record --force -o "$RUN" "$@"
}

@test "user, groups, HOME, USER and working directory are the user's" {
	same id "$(as_user id)" "$(recorded -- id)"
	for name in HOME USER LOGNAME; do
		same $name "$(as_user printenv $name)" "$(recorded -- printenv $name)"
	done
	same "working directory" $HOME_DIR "$(recorded -- pwd)"
}

@test "no capability of root's is left to the command" {
	same capabilities "$(as_user grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status)" \
		"$(recorded -- grep -E 'Cap(Inh|Prm|Eff|Amb)' /proc/self/status)"
}

@test "the trace belongs to the user, and the user can read it" {
	recorded --scope job -e io -- cat /etc/hostname >/dev/null
	same owner "$USER_NAME:$USER_NAME" "$(there stat -c %U:%G "$RUN")"
	same "rows' user" "$(there id -u $USER_NAME)" "$(rows process "event == 'exec' and comm == 'cat'" uid)"
	cp "$STRATA" "$HOME_DIR/strata"
	as_user ./strata info run.strata >info
	says info "cat /etc/hostname"
}

@test "root by itself, without sudo, stays root" {
	same id "$(id)" "$(record -- id)"
}
