#!/bin/sh
# watchdog.sh <program> [arguments]: runs the program in this very process, so its starter can signal it, and
# kills it when the process that started it has gone, however that ended (SIGKILL included). Descriptor 3 is a pipe that
# the starter holds open until then; without one the watchdog asks every second.
set -eu

parent=$PPID
self=$$

# The parent's id is compared, not whether the parent is alive: a dead one that nobody has waited for still takes signals.
parent_of() {
  if [ -r "/proc/$1/stat" ]; then
    IFS= read -r stat <"/proc/$1/stat" || return 0
    # The name, in brackets, may itself hold spaces: what follows it is the state, then the parent.
    set -- ${stat##*) }
    echo "$2"
  else
    ps -o ppid= -p "$1" | tr -d ' '
  fi
}

(
  # The program may be given a PATH without them.
  PATH=$PATH:/usr/bin:/bin
  read -r _ <&3 || true
  while :; do
    now=$(parent_of "$self" 2>/dev/null || true)
    case $now in
      "$parent") sleep 1 ;;
      '') exit 0 ;;
      *)
        kill -9 "$self"
        exit 0
        ;;
    esac
  done
) </dev/null >/dev/null 2>&1 &

exec "$@" 3<&-
