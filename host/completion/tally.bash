# SPDX-License-Identifier: BSD-2-Clause
# Completion of tally's command line for bash. In ~/.bashrc:  . CLONE/host/completion/tally.bash
# Completes options, tally's own commands, perf's, and files.

# Words that begin with what has been typed.
_tally_words() {
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$2")
}

_tally_files() {
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# The value of an option: $1 is the option, $2 what has been typed of the value.
_tally_value() {
	case $1 in
	--kernel) _tally_words 'tally linux' "$2" ;;
	--smp) _tally_words '1 2 4 8' "$2" ;;
	--mem) _tally_words '256M 512M 1G 2G 4G 8G' "$2" ;;
	--call-graph) _tally_words 'fp dwarf' "$2" ;;
	--root)
		_tally_files "$2"
		[[ none == "$2"* ]] && COMPREPLY+=(none)
		;;
	--package) mapfile -t COMPREPLY < <(apt-cache pkgnames "$2" 2>/dev/null) ;;
	--copy | --log | --input | --output | -i | -o) _tally_files "$2" ;;
	*) COMPREPLY=() ;;
	esac
}

_tally() {
	local general='--smp --mem --no-pmu --root --package --no-share --no-exact --kernel --copy --env
		--timeout --log --verbose --help -h --version'
	local budget='--update -u --name -n --event -e --tolerance -t --input -i --help'
	local flamegraph='--input -i --output -o --title --event -e --freq -F --count -c --call-graph --help'
	local export="--speedscope --firefox --collapsed $flamegraph"
	local doctor='--help'
	# Those that take a value, with all commands taken together.
	local valued=' --smp --mem --root --package --kernel --copy --env --timeout --log --name -n --event -e
		--tolerance -t --input -i --output -o --title --freq -F --count -c --call-graph '
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' own='' i

	COMPREPLY=()
	# Readline takes --kernel=tally apart at '='.
	if [[ $word == '=' ]]; then
		_tally_value "$before" ''
		return
	elif [[ $before == '=' ]] && ((COMP_CWORD >= 2)); then
		_tally_value "${COMP_WORDS[COMP_CWORD - 2]}" "$word"
		return
	fi

	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--)
			[[ $own ]] && own='' command=none
			[[ $command ]] || command=any
			;;
		-*)
			[[ $command && ! $own ]] && continue
			if [[ $valued == *[[:space:]]"${COMP_WORDS[i]}"[[:space:]]* ]]; then
				[[ ${COMP_WORDS[i + 1]} == '=' ]] && ((i++))
				((i++))
			fi
			;;
		*)
			[[ $command && $command != none ]] && continue
			[[ $command ]] || case ${COMP_WORDS[i]} in
			budget | flamegraph | export | doctor) own=${COMP_WORDS[i]} ;;
			esac
			command=${COMP_WORDS[i]}
			;;
		esac
	done

	if [[ ! $command || $own ]] && [[ $valued == *[[:space:]]"$before"[[:space:]]* ]]; then
		_tally_value "$before" "$word"
	elif [[ $own && $word == -* ]]; then
		_tally_words "${!own}" "$word"
	elif [[ ! $command && $word == -* ]]; then
		_tally_words "$general" "$word"
	elif [[ ! $command ]]; then
		_tally_files "$word"
		COMPREPLY+=($(compgen -W 'budget flamegraph export doctor perf bash python3' -- "$word"))
	elif [[ $command == perf && $before == perf ]]; then
		_tally_words 'annotate bench diff list record report script stat' "$word"
	else
		_tally_files "$word"
	fi
}

complete -F _tally tally
