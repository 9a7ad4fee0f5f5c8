#!/bin/sh
# placeholder.sh: does nothing until it is killed, or the process that started it has gone.
set -eu
exec "$(dirname "$0")/watchdog.sh" sleep 2147483647
