#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# lttng.sh run COMMAND...       runs the command beside a session daemon of its own, which ends with it
# lttng.sh begin RULE MODE      within such a command: events are recorded from here on
# lttng.sh end RULE MODE        within such a command: how many events a reader gets back
#
# RULE is ust:EVENT or jul:LOGGER. MODE is overwrite (4 x 256 KiB for each CPU, in memory, read as a snapshot) or
# discard (4 x 8 MiB for each CPU, written to files).
#
# The daemon is never the user's or the system's: it lives in a temporary home. What root does is fixed to /var/run/lttng,
# so root gets a mount namespace with an empty one, and where that is not allowed, uses the folder only if no daemon does.

set -u

sentence() {
  echo "unavailable $*"
  exit 0
}

# A user in the group "tracing" would be sent to root's daemon: ask as a member of a group that nobody is in.
ask() {
  lttng --no-sessiond --group=quiesce-bench-none "$@"
}

quietly() {
  if ! said=$(ask "$@" 2>&1); then
    echo "lttng $*: $(echo "$said" | grep -v '^$' | head -n 1)" >&2
    exit 1
  fi
}

# --- A daemon around a command ---------------------------------------------------------------------------

needs() {
  for program in lttng lttng-sessiond; do
    command -v $program >/dev/null 2>&1 || sentence "Not on this machine: install lttng-tools."
  done
  command -v babeltrace2 >/dev/null 2>&1 || sentence "Not on this machine: install babeltrace2, which counts the events."
}

# As root: in a mount namespace, if that is allowed.
apart() {
  [ "$(id -u)" = 0 ] || return 0
  if [ "${QUIESCE_LTTNG_APART:-}" = yes ]; then
    mount -t tmpfs -o mode=755 none /var/run/lttng || sentence "LTTng cannot be kept apart: mounting on /var/run/lttng failed."
  elif mkdir -p /var/run/lttng 2>/dev/null && unshare --mount true 2>/dev/null; then
    QUIESCE_LTTNG_APART=yes exec unshare --mount --propagation private sh "$0" run "$@"
  elif ask list >/dev/null 2>&1; then
    sentence "A session daemon of LTTng runs as root already, and this one cannot be kept apart: stop it, or be another user."
  fi
}

# Everything that must not outlive this shell, however it ends: the fifo ends when nobody has it open for writing.
watch() {
  trap '' HUP INT TERM # sent to the whole group, they must not end the one that cleans up
  read -r _ <"$LTTNG_HOME/alive"
  [ ! -s "$LTTNG_HOME/command" ] || kill -KILL "$(cat "$LTTNG_HOME/command")"
  if [ -s "$LTTNG_HOME/daemon" ]; then
    daemon=$(cat "$LTTNG_HOME/daemon")
    kill -TERM "$daemon"
    tries=0
    while kill -0 "$daemon" && [ $tries -lt 50 ]; do
      tries=$((tries + 1))
      sleep 0.1
    done
    kill -KILL "$daemon"
  fi
  rm -rf "$LTTNG_HOME"
}

run() {
  [ $# -gt 0 ] || usage
  needs
  apart "$@"
  LTTNG_HOME=$(mktemp -d "${TMPDIR:-/tmp}/quiesce-lttng.XXXXXX") || exit 1
  QUIESCE_LTTNG=$(cd "$(dirname "$0")" && pwd)/lttng.sh
  export LTTNG_HOME QUIESCE_LTTNG
  mkfifo "$LTTNG_HOME/alive" || exit 1
  (watch) </dev/null >/dev/null 2>&1 &
  watcher=$!
  exec 9>"$LTTNG_HOME/alive"
  lttng-sessiond --no-kernel </dev/null >"$LTTNG_HOME/log" 2>&1 9>&- &
  daemon=$!
  echo $daemon >"$LTTNG_HOME/daemon"
  tries=0
  until ask list >/dev/null 2>&1 9>&-; do
    tries=$((tries + 1))
    if [ $tries -gt 100 ] || ! kill -0 $daemon 2>/dev/null; then
      why=$(grep -m 1 -i error "$LTTNG_HOME/log")
      finish
      sentence "The session daemon of LTTng does not start: ${why:-it says nothing}."
    fi
    sleep 0.1
  done
  exec 8<&0 # a command in the background would read nothing
  "$@" <&8 8<&- 9>&- &
  command=$!
  echo $command >"$LTTNG_HOME/command"
  wait $command
  status=$?
  rm -f "$LTTNG_HOME/command"
  finish
  exit $status
}

finish() {
  exec 9>&-
  wait $watcher
}

# --- Sessions ----------------------------------------------------------------------------------------------

create() {
  quietly create bench --output="$LTTNG_HOME/trace" "$@"
}

channel() {
  quietly enable-channel --userspace --num-subbuf=4 "$@"
}

begin() {
  case $rule in
    ust:*) channel=bench ;;
    jul:*) channel=lttng_jul_channel ;; # the one that the agent's events go to; made before, it has our sizes
    *) usage ;;
  esac
  case $mode in
    overwrite)
      [ ! -e "$LTTNG_HOME/trace" ] || return 0 # one session for all rounds: its buffers are overwritten
      create --snapshot
      channel --overwrite --subbuf-size=256k $channel
      ;;
    discard)
      create
      channel --discard --subbuf-size=8M $channel
      ;;
    *) usage ;;
  esac
  case $rule in
    ust:*) quietly enable-event --userspace --channel=bench "${rule#ust:}" ;;
    jul:*) quietly enable-event --jul "${rule#jul:}" ;;
  esac
  quietly start
  mkdir -p "$LTTNG_HOME/trace"
}

end() {
  case $mode in
    overwrite)
      quietly snapshot record
      count "$LTTNG_HOME/trace"
      rm -rf "$LTTNG_HOME/trace/"*
      ;;
    discard)
      quietly stop # waits until everything is in the files
      count "$LTTNG_HOME/trace"
      quietly destroy --no-wait
      rm -rf "$LTTNG_HOME/trace"
      ;;
    *) usage ;;
  esac
}

# A trace without a packet is an error to babeltrace2, and no event here.
count() {
  found=$(babeltrace2 "$1" --component=sink.utils.counter --params=step=+0 2>/dev/null |
    sed -n 's/^ *\([0-9][0-9]*\) Event messages$/\1/p' | tail -n 1)
  echo "${found:-0}"
}

usage() {
  echo "Usage: lttng.sh run COMMAND... | begin RULE overwrite|discard | end RULE overwrite|discard" >&2
  exit 2
}

case ${1:-} in
  run)
    shift
    run "$@"
    ;;
  begin | end)
    [ $# = 3 ] || usage
    if [ "${QUIESCE_LTTNG:-}" = "" ]; then
      echo "This runs within lttng.sh run only: it must not meet a daemon of others." >&2
      exit 2
    fi
    rule=$2 mode=$3
    "$1"
    ;;
  *) usage ;;
esac
