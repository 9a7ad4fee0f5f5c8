#!/bin/sh
# test-server.sh <port> <test server>: the SDK gives the port first, so the program to run comes second.
set -eu
exec "$(dirname "$0")/watchdog.sh" "$2" "$1"
