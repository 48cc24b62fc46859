#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# smoke.sh OUTDIR: builds the native peers and drives each through a short round of everything it knows: that the
# protocol holds, that numbers come out, that nothing runs between rounds, that bad usage is refused.
# A peer that was skipped for want of a package is named and passed over; a compiler failure is a failure.

set -u
if [ $# -ne 1 ]; then
  echo "Usage: smoke.sh OUTDIR" >&2
  exit 2
fi
out=$1
here=$(dirname "$0")
failures=0
skipped=$("$here/build.sh" "$out") || exit 1
[ -z "$skipped" ] || echo "$skipped"

fail() {
  echo "FAIL $*"
  failures=$((failures + 1))
}

case $skipped in *"compiler failed"*) fail "build" ;; esac

# cpu_ticks PID: processor time of all its threads, in 10 ms ticks
cpu_ticks() {
  local stat
  stat=$(<"/proc/$1/stat")
  set -- ${stat##*) }
  echo $((${12} + ${13}))
}

# What the next drives run within: words of a command, or none.
within=()

# drive UNIT NAME ARGUMENTS...: two rounds with a pause between them
drive() {
  local unit=$1 name=$2 line before idle status first="" second="" in from pid
  shift 2
  [ -x "$out/$name" ] || return 0
  coproc PEER { exec "${within[@]}" "$out/$name" "$@"; }
  pid=$PEER_PID
  exec {in}>&"${PEER[1]}" {from}<&"${PEER[0]}"
  read -r -t 60 line <&$from
  if [[ $line == unavailable\ * ]]; then
    echo "ok   $name $* $line"
    exec {in}>&- {from}<&-
    wait $pid
    return 0
  fi
  [ "$line" = ready ] || fail "$name $*: no ready, but '$line'"
  echo "round 60" >&$in
  read -r -t 60 first <&$from
  before=$(cpu_ticks $pid)
  sleep 0.1
  idle=$(($(cpu_ticks $pid) - before))
  echo "round 60" >&$in
  read -r -t 60 second <&$from
  echo quit >&$in
  exec {in}>&- {from}<&-
  eval "exec ${PEER[1]}>&-" 2>/dev/null
  wait $pid
  status=$?
  [[ $first =~ ^result\ $unit=[0-9]+(\.[0-9]+)?(\ [a-z0-9]+=[0-9.]+)*$ ]] || fail "$name $*: '$first'"
  [[ $second =~ ^result\ $unit= ]] || fail "$name $*: second round '$second'"
  [ "$idle" -le 1 ] || fail "$name $*: $idle ticks of processor time while idle"
  [ "$status" = 0 ] || fail "$name $*: exit status $status"
  echo "ok   $name $* ${second#result }"
}

# refuse NAME ARGUMENTS...: one sentence on stderr, nothing on stdout, exit 2
refuse() {
  local name=$1 said status
  shift
  [ -x "$out/$name" ] || return 0
  said=$("$out/$name" "$@" 2>&1 >/dev/null </dev/null)
  status=$?
  [ "$status" = 2 ] && [ -n "$said" ] && [ "$(echo "$said" | wc -l)" = 1 ] || fail "$name $*: exit $status, '$said'"
}

for flavour in memb mb qsbr bp; do
  for section in bare full; do
    drive ns urcu-$flavour rcu.read threads=1 section=$section
    drive ns urcu-$flavour rcu.read threads=2 section=$section
  done
  drive ns urcu-$flavour rcu.synchronize readers=0
  drive ns urcu-$flavour rcu.synchronize readers=1
  workers="default rt-pinned"
  [ $flavour != memb ] || workers="default percpu percpu-pinned rt rt-pinned"
  for worker in $workers; do
    drive ns urcu-$flavour rcu.call measure=enqueue worker=$worker
    drive rate urcu-$flavour rcu.call measure=throughput worker=$worker
    drive ns urcu-$flavour rcu.call measure=idle-latency worker=$worker batch=1000
    drive ns urcu-$flavour rcu.call measure=idle-barrier worker=$worker batch=1000
  done
done
drive ns urcu-mb-locked rcu.read threads=1 section=full
for threads in 1 2; do
  drive ns pthread-rwlock rcu.read threads=$threads section=full
done
for peer in "pthread-locks mutex" "pthread-locks spin" "ck-locks mcs" "ck-locks clh" "ck-locks ticket"; do
  set -- $peer
  drive ns $1 locks.uncontended threads=1 measure=pair lock=$2
  drive rate $1 locks.contended threads=2 steps=25 measure=throughput lock=$2
  drive p999 $1 locks.contended threads=3 steps=500 measure=wait lock=$2
done
for strategy in private rseq rseq-cpu global mprotect affinity syscall; do
  for siblings in 0 1; do
    drive ns membarrier barrier.cost strategy=$strategy siblings=$siblings
  done
done
drive rate bystander barrier.bystander
drive rate bystander barrier.bystander cpu=0
within=(sh "$here/lttng.sh" run)
for event in two-ints long-string; do
  for mode in overwrite discard; do
    drive ns lttng-ust trace.event threads=2 event=$event mode=$mode burst=20000 pause=1
  done
  drive ns lttng-ust trace.event event=$event measure=disabled pace=300000
done
within=()

# ends_with_input NAME ARGUMENTS...: the end of input ends the process like quit
ends_with_input() {
  local name=$1 said
  shift
  [ -x "$out/$name" ] || return 0
  said=$(timeout 20 "$out/$name" "$@" </dev/null) && [ "$said" = ready ] || fail "$name $*: at end of input '$said'"
}
ends_with_input urcu-qsbr rcu.read threads=2
ends_with_input urcu-memb rcu.call worker=rt-pinned batch=1000
ends_with_input ck-locks locks.contended threads=4 measure=throughput lock=clh
ends_with_input membarrier barrier.cost strategy=affinity siblings=1
ends_with_input bystander barrier.bystander

for name in urcu-memb urcu-mb urcu-qsbr urcu-bp pthread-rwlock pthread-locks ck-locks membarrier bystander lttng-ust; do
  refuse $name
  refuse $name rcu.nothing
done
refuse urcu-memb rcu.read threads=0
refuse urcu-memb rcu.read threads=1 threads=2
refuse urcu-memb rcu.read measure=enqueue
refuse urcu-memb rcu.call worker=lazy
refuse pthread-locks locks.uncontended threads=2 measure=pair
refuse ck-locks locks.contended lock=mutex
refuse membarrier barrier.cost strategy=hope
refuse bystander barrier.bystander cpu=x
refuse lttng-ust trace.event event=text
refuse lttng-ust trace.event mode=lossy

if [ $failures -ne 0 ]; then
  echo "$failures failed"
  exit 1
fi
echo "all well"
