# SPDX-License-Identifier: BSD-2-Clause
# For the shell scripts here: shows how a command gets on, in a line that changes, if standard error
# is a terminal. Elsewhere nothing is shown; what the scripts say in plain lines is all.

# progress LOG COMMAND...: runs the command with all that it says appended to LOG, whose last line
# is shown. Returns the command's status.
progress() {
	progress_log=$1
	shift
	progress_shown=
	if [ -t 2 ] && [ "${TERM:-dumb}" != dumb ]; then
		progress_line "$$" "$progress_log" 9>&- & # 9: host/build's lock, which is not its own
		progress_shown=$!
	fi
	progress_status=0
	"$@" >>"$progress_log" 2>&1 || progress_status=$?
	if [ -n "$progress_shown" ]; then
		kill "$progress_shown" 2>/dev/null || :
		wait "$progress_shown" 2>/dev/null || :
		printf '\r\033[K' >&2
	fi
	return "$progress_status"
}

# Until it is killed, or the script with process number $1 is gone.
progress_line() {
	progress_seconds=0
	while kill -0 "$1" 2>/dev/null; do
		progress_last=$(tail -c 500 "$2" 2>/dev/null | tr -d '\033\r' | tail -n 1)
		printf '\r\033[K  %s s: %.60s' "$progress_seconds" "$progress_last" >&2
		sleep 1
		progress_seconds=$((progress_seconds + 1))
	done
}
