#!/usr/bin/env bash
#
# Searches every Spin model exhaustively, and every deliberately broken twin until it breaks.
#
#   run.sh [--quick]      all cases; --quick leaves out the largest configurations
#   run.sh --only PREFIX  the cases whose name begins so, for example sleepable/
#   run.sh --show NAME    the shortest counter-example of one twin, step by step
#   run.sh --stats        as run.sh, with states and seconds behind every case
#
# A model passes if the whole state space was searched, no assertion failed, no process was left stuck, and every
# statement was reached. A twin passes if the expected assertion fails. Exit 1 if any case does not.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Columns: full or quick | model | name | what fails ("-" for nothing) | definitions
cases() {
  grep -v '^ *$' <<'CASES'
quick | grace_period           | counter                          | -       |
quick | grace_period           | counter-one-reader-many-periods  | -       | -DREADERS=1 -DSECTIONS=3 -DPERIODS=5
full  | grace_period           | counter-three-readers            | -       | -DREADERS=3 -DSECTIONS=1 -DPERIODS=2
quick | grace_period           | counter-in-order-loads           | -       | -DIN_ORDER_LOADS
quick | grace_period           | no-membarrier                    | freed   | -DNO_MEMBARRIER
full  | grace_period           | no-membarrier-in-order-loads     | freed   | -DNO_MEMBARRIER -DIN_ORDER_LOADS
quick | grace_period           | parity-single-pass               | freed   | -DPARITY
full  | grace_period           | parity-single-pass-in-order-loads| freed   | -DPARITY -DIN_ORDER_LOADS
quick | grace_period           | exit-plain                       | freed   | -DEXIT_PLAIN
quick | grace_period           | exit-plain-trailing-barrier      | -       | -DEXIT_PLAIN -DTRAILING_BARRIER -DPERIODS=2
full  | grace_period           | exit-plain-trailing-three-periods| -       | -DEXIT_PLAIN -DTRAILING_BARRIER
quick | grace_period           | increment-first                  | freed   | -DINCREMENT_FIRST
full  | grace_period           | increment-first-trailing-barrier | freed   | -DINCREMENT_FIRST -DTRAILING_BARRIER
quick | grace_period           | increment-first-in-order-loads   | -       | -DINCREMENT_FIRST -DIN_ORDER_LOADS
quick | grace_period           | load-before-entry                | freed   | -DLOAD_BEFORE_ENTRY
quick | grace_period           | fenced                           | -       | -DFENCED
full  | grace_period           | fenced-increment-first           | -       | -DFENCED -DINCREMENT_FIRST
quick | grace_period           | fenced-no-reader-fence           | freed   | -DNO_READER_FENCE
quick | grace_period           | fenced-no-updater-fence          | freed   | -DFENCED -DNO_UPDATER_FENCE
quick | grace_period_two_phase | flip-wait-flip-wait-once-each    | -       | -DPERIODS=2 -DSECTIONS=1
full  | grace_period_two_phase | flip-wait-flip-wait              | -       | -DPERIODS=2
full  | grace_period_two_phase | flip-wait-flip-wait-three-periods| -       |
quick | grace_period_two_phase | wait-flip-wait                   | -       | -DWAIT_FLIP_WAIT -DPERIODS=2
full  | grace_period_two_phase | wait-flip-wait-three-periods     | -       | -DWAIT_FLIP_WAIT
quick | grace_period_two_phase | one-flip                         | freed   | -DONE_FLIP
quick | grace_period_two_phase | no-leading-barrier               | freed   | -DNO_LEADING
quick | grace_period_two_phase | no-trailing-barrier              | freed   | -DNO_TRAILING
full  | grace_period_two_phase | wait-flip-wait-no-leading-barrier| freed   | -DWAIT_FLIP_WAIT -DNO_LEADING
quick | wakeup                 | two-enqueuers                    | -       |
full  | wakeup                 | one-enqueuer-many-callbacks      | -       | -DENQUEUERS=1 -DCALLBACKS=4 -DSPURIOUS=4
quick | wakeup                 | three-enqueuers                  | -       | -DENQUEUERS=3 -DCALLBACKS=1 -DSPURIOUS=1
full  | wakeup                 | three-enqueuers-spurious         | -       | -DENQUEUERS=3 -DCALLBACKS=1 -DSPURIOUS=2
full  | wakeup                 | two-enqueuers-three-callbacks    | -       | -DCALLBACKS=3
quick | wakeup                 | never-armed                      | idle    | -DNEVER_ARMED
quick | wakeup                 | no-enqueue-barrier               | queue   | -DNO_ENQUEUE_BARRIER
quick | wakeup                 | no-worker-barrier                | queue   | -DNO_WORKER_BARRIER
quick | wakeup                 | look-first                       | queue   | -DLOOK_FIRST
quick | wakeup                 | wake-first                       | queue   | -DWAKE_FIRST
quick | wakeup                 | add-one                          | word    | -DADD_ONE
quick | wakeup                 | wait-once                        | word    | -DWAIT_ONCE
quick | wakeup                 | not-reset                        | word    | -DNOT_RESET
quick | sleepable              | plain-readers                    | -       | -DSECTIONS=1
quick | sleepable              | plain-reader-twice               | -       | -DREADERS=1 -DPERIODS=3
full  | sleepable              | plain-readers-twice-and-once     | -       | -DOTHERS=1
full  | sleepable              | plain-readers-three              | -       | -DREADERS=3 -DSECTIONS=1 -DPERIODS=1
full  | sleepable              | no-leading-barrier               | -       | -DSECTIONS=1 -DNO_LEADING
full  | sleepable              | no-trailing-barrier              | -       | -DSECTIONS=1 -DLOCAL_TRAILING
full  | sleepable              | middle-barriers-only             | -       | -DOTHERS=1 -DNO_LEADING -DLOCAL_TRAILING
quick | sleepable              | release-one-membarrier           | -       | -DOTHERS=1 -DEXIT_RELEASE -DLOCAL_MIDDLE -DLOCAL_TRAILING
full  | sleepable              | release-one-membarrier-twice     | -       | -DEXIT_RELEASE -DLOCAL_MIDDLE -DLOCAL_TRAILING
full  | sleepable              | release-one-membarrier-three     | -       | -DREADERS=3 -DSECTIONS=1 -DEXIT_RELEASE -DLOCAL_MIDDLE -DLOCAL_TRAILING
quick | sleepable              | locks-first                      | freed   | -DSECTIONS=1 -DLOCKS_FIRST
full  | sleepable              | locks-first-release              | freed   | -DSECTIONS=1 -DLOCKS_FIRST -DEXIT_RELEASE
quick | sleepable              | one-wait                         | freed   | -DSECTIONS=1 -DONE_WAIT
quick | sleepable              | no-middle-barrier                | freed   | -DSECTIONS=1 -DNO_MIDDLE
full  | sleepable              | no-middle-barrier-release        | freed   | -DSECTIONS=1 -DNO_MIDDLE -DEXIT_RELEASE
quick | sleepable              | plain-readers-local-middle       | freed   | -DSECTIONS=1 -DLOCAL_MIDDLE
quick | sleepable              | release-no-membarrier            | freed   | -DSECTIONS=1 -DNO_LEADING -DEXIT_RELEASE -DLOCAL_MIDDLE
quick | sleepable              | fenced                           | -       | -DOTHERS=1 -DFENCED
full  | sleepable              | fenced-twice                     | -       | -DFENCED
quick | sleepable              | fenced-no-reader-fence           | freed   | -DSECTIONS=1 -DNO_READER_FENCE
quick | mcs                    | three-threads-two-give-up        | -       |
full  | mcs                    | three-threads-all-give-up        | -       | -DQUITTERS=7
quick | mcs                    | own-place-again                  | -       | -DTHREADS=2 -DROUNDS=2 -DQUITTERS=2
full  | mcs                    | own-place-again-and-unlink       | -       | -DROUNDS=2 -DFIRST_AGAIN -DQUITTERS=2
quick | mcs                    | no-link-wait                     | order   | -DNO_LINK_WAIT
quick | mcs                    | abandon-store                    | ended   | -DABANDON_STORE
quick | mcs                    | look-first                       | ended   | -DLOOK_FIRST
quick | mcs                    | grant-abandoned                  | ended   | -DGRANT_ABANDONED
quick | mcs                    | link-kept                        | ended   | -DTHREADS=2 -DROUNDS=2 -DQUITTERS=0 -DLINK_KEPT
full  | mcs                    | unlink-store                     | ended   | -DROUNDS=2 -DFIRST_AGAIN -DQUITTERS=2 -DUNLINK_STORE
quick | clh                    | three-threads-two-give-up        | -       |
full  | clh                    | first-again                      | -       | -DROUNDS=2 -DFIRST_AGAIN
quick | clh                    | take-store                       | inside  | -DTAKE_STORE
quick | clh                    | tail-store                       | ended   | -DTAIL_STORE
quick | clh                    | silent                           | ended   | -DSILENT
quick | clh                    | look-first                       | ended   | -DLOOK_FIRST
quick | clh                    | register-late                    | ended   | -DREGISTER_LATE
quick | clh                    | tail-only                        | flag    | -DTAIL_ONLY
quick | nmcs                   | two-threads-passing-by           | -       | -DTHREADS=2 -DROUNDS=3 -DFIRST_AGAIN -DQUITTERS=2
full  | nmcs                   | newcomer-and-two-waiters         | -       | -DROLES -DQUITTERS=2
full  | nmcs                   | newcomer-twice                   | -       | -DROLES -DROUNDS=2 -DFIRST_AGAIN -DQUITTERS=2
full  | nmcs                   | fenced                           | -       | -DROLES -DQUITTERS=2 -DFENCED
quick | nmcs                   | no-barrier                       | ended   | -DTHREADS=2 -DQUITTERS=0 -DNO_BARRIER
quick | nmcs                   | barrier-first                    | ended   | -DTHREADS=2 -DQUITTERS=0 -DBARRIER_FIRST
quick | nmcs                   | not-honoured                     | passed_by | -DTHREADS=2 -DROUNDS=3 -DFIRST_AGAIN -DQUITTERS=0 -DNOT_HONOURED
quick | nmcs                   | no-claim                         | ended   | -DROLES -DQUITTERS=2 -DNO_CLAIM
quick | nmcs                   | head-store                       | ended   | -DROLES -DQUITTERS=2 -DHEAD_STORE
quick | nmcs                   | abandon-store                    | ended   | -DROLES -DQUITTERS=2 -DABANDON_STORE
quick | nmcs                   | nobody-woken                     | ended   | -DROLES -DQUITTERS=2 -DNOBODY_WOKEN
full  | nmcs                   | no-recheck                       | ended   | -DNO_NEWCOMERS -DQUITTERS=4 -DNO_RECHECK
quick | condition              | one-gives-up                     | -       | -DQUITTERS=2
quick | condition              | both-give-up                     | -       | -DQUITTERS=6
quick | condition              | two-signals                      | -       | -DQUITTERS=2 -DTOKENS=2
quick | condition              | abandon-store                    | tokens  | -DQUITTERS=2 -DABANDON_STORE
quick | condition              | no-decision                      | tokens  | -DQUITTERS=2 -DNO_DECISION
quick | condition              | queue-late                       | tokens  | -DQUITTERS=2 -DQUEUE_LATE
quick | condition              | wake-first                       | tokens  | -DQUITTERS=2 -DWAKE_FIRST
quick | condition              | not-removed                      | queue   | -DQUITTERS=2 -DNOT_REMOVED
quick | morph                  | mcs-newcomer                     | -       | -DQUITTERS=0
quick | morph                  | mcs-gives-up                     | -       | -DQUITTERS=2
quick | morph                  | mcs-two-waiters                  | -       | -DQUITTERS=2 -DWAITERS=2 -DNEWCOMERS=0
full  | morph                  | mcs-two-waiters-and-newcomer     | -       | -DQUITTERS=2 -DWAITERS=2
quick | morph                  | mcs-signal-all                   | -       | -DQUITTERS=0 -DWAITERS=2 -DSIGNALS=2
quick | morph                  | mcs-not-parked                   | ended   | -DQUITTERS=0 -DNOT_PARKED
quick | morph                  | mcs-enqueue-first                | ended   | -DQUITTERS=2 -DENQUEUE_FIRST
quick | morph                  | mcs-enqueue-anyway               | ended   | -DQUITTERS=2 -DENQUEUE_ANYWAY
quick | morph                  | mcs-enqueue-late                 | ended   | -DQUITTERS=0 -DENQUEUE_LATE
quick | morph                  | mcs-clear-late                   | ended   | -DQUITTERS=0 -DCLEAR_LATE
quick | morph                  | nodeless-newcomer                | -       | -DNODELESS -DQUITTERS=0
quick | morph                  | nodeless-gives-up                | -       | -DNODELESS -DROLES -DQUITTERS=2
full  | morph                  | nodeless-two-waiters             | -       | -DNODELESS -DROLES -DQUITTERS=2 -DWAITERS=2 -DNEWCOMERS=0
full  | morph                  | nodeless-signal-all              | -       | -DNODELESS -DROLES -DQUITTERS=2 -DWAITERS=2 -DNEWCOMERS=0 -DSIGNALS=2
quick | morph                  | nodeless-not-parked              | ended   | -DNODELESS -DROLES -DQUITTERS=0 -DNOT_PARKED
quick | morph                  | nodeless-enqueue-first           | ended   | -DNODELESS -DROLES -DQUITTERS=2 -DENQUEUE_FIRST
quick | morph                  | nodeless-enqueue-anyway          | ended   | -DNODELESS -DROLES -DQUITTERS=2 -DENQUEUE_ANYWAY
quick | morph                  | nodeless-enqueue-late            | ended   | -DNODELESS -DROLES -DQUITTERS=0 -DENQUEUE_LATE
quick | morph                  | nodeless-clear-late              | ended   | -DNODELESS -DROLES -DQUITTERS=0 -DCLEAR_LATE
quick | trace_sequence         | killed                           | -       | -DKILL -DEVENTS=1
quick | trace_sequence         | store-buffer                     | -       | -DTSO -DEVENTS=1
quick | trace_sequence         | twice                            | -       |
full  | trace_sequence         | killed-twice                     | -       | -DKILL
full  | trace_sequence         | store-buffer-twice               | -       | -DTSO
full  | trace_sequence         | producer-dies                    | -       | -DDIES
full  | trace_sequence         | last-pass                        | -       | -DLAST
quick | trace_sequence         | commit-first                     | event_at | -DCOMMIT_FIRST -DEVENTS=1
quick | trace_sequence         | no-fence                         | visible | -DNO_FENCE -DSUB=4 -DSAME_SIZE -DEVENTS=1
quick | trace_sequence         | no-close                         | visible | -DNO_CLOSE -DSUB=4 -DSAME_SIZE -DEVENTS=1
quick | trace_sequence         | no-restart                       | visible | -DNO_RESTART -DEVENTS=1
full  | trace_sequence         | no-consumed                      | offset  | -DNO_CONSUMED
quick | trace_sequence         | padding-late                     | event_at | -DPADDING_LATE -DEVENTS=1
quick | trace_sequence         | consumed-first                   | committed | -DCONSUMED_FIRST -DKILL -DEVENTS=1
quick | trace_sequence         | no-sequence-number               | read    | -DNO_SEQUENCE -DKILL -DEVENTS=1
full  | trace_sequence         | first-owner                      | committed | -DDIES -DFIRST_OWNER -DSAME_SIZE -DEVENTS=1
quick | trace_sequence         | count-look                       | counted | -DLAST -DCOUNT_LOOK -DEVENTS=1
quick | trace_swap             | one-record-sub-buffers           | -       | -DSUB=2 -DSAME_SIZE
full  | trace_swap             | snapshot                         | -       |
quick | trace_swap             | no-zero                          | words   | -DNO_ZERO
quick | trace_swap             | no-claim                         | words   | -DNO_CLAIM
quick | trace_swap             | no-wrap                          | offset  | -DNO_WRAP
quick | trace_swap             | no-look-again                    | words   | -DNO_LOOK_AGAIN
quick | trace_swap             | fields-first                     | words   | -DFIELDS_FIRST
quick | trace_swap             | commit-first                     | words   | -DCOMMIT_FIRST
quick | trace_suspect          | one-record-sub-buffers           | -       | -DSUB=2 -DSAME_SIZE
full  | trace_suspect          | three-events                     | -       | -DEVENTS=3
quick | trace_suspect          | no-note                          | offset  | -DNO_NOTE -DSUB=2 -DSAME_SIZE
quick | trace_suspect          | last-first                       | offset  | -DLAST_FIRST -DSUB=2 -DSAME_SIZE
quick | trace_suspect          | note-late                        | offset  | -DNOTE_LATE -DSUB=2 -DSAME_SIZE
quick | trace_suspect          | same-sub-buffer                  | offset  | -DSAME_SUB -DSUB=2 -DSAME_SIZE
quick | trace_ready            | two-producers                    | -       |
full  | trace_ready            | three-producers                  | -       | -DPRODUCERS=3
quick | trace_ready            | open-first                       | offset  | -DOPEN_FIRST
quick | trace_ready            | no-look-again                    | unit.i. | -DNO_LOOK_AGAIN
quick | trace_ready            | open-store                       | closed  | -DOPEN_STORE
quick | trace_ready            | failed-opens                     | offset  | -DFAILED_OPENS
quick | trace_ready            | close-anyway                     | file    | -DCLOSE_ANYWAY
quick | trace_end              | swap                             | -       |
quick | trace_end              | sequence                         | -       | -DSEQUENCE
quick | trace_end              | lock                             | -       | -DLOCK
quick | trace_end              | no-look                          | told    | -DNO_LOOK
quick | trace_end              | look-first                       | told    | -DLOOK_FIRST
quick | trace_end              | offset-first                     | told    | -DOFFSET_FIRST
quick | trace_end              | no-fence                         | told    | -DSEQUENCE -DNO_FENCE
quick | trace_end              | fence-first                      | told    | -DSEQUENCE -DFENCE_FIRST
quick | trace_end              | test-outside                     | told    | -DSEQUENCE -DTEST_OUTSIDE
quick | trace_end              | no-lock                          | told    | -DLOCK -DNO_LOCK
quick | trace_lock             | two-threads                      | -       |
full  | trace_lock             | three-threads                    | -       | -DTHREADS=3 -DROUNDS=2
quick | trace_lock             | takeovers-only                   | inside  | -DTAKEOVERS_ONLY
quick | trace_lock             | word-again                       | inside  | -DWORD_AGAIN
quick | trace_lock             | no-stack                         | inside  | -DNO_STACK
quick | trace_lock             | own-store                        | inside  | -DOWN_STORE
quick | trace_lock             | offset-first                     | record  | -DOFFSET_FIRST
CASES
}

usage() { echo "usage: run.sh [--quick] [--stats] [--only PREFIX] | --show MODEL/NAME" >&2; exit 2; }

# Compiles one case into the current folder. Twins are searched breadth first: the first failure is a shortest one.
compile() {   # model fails definitions...
  local model=$1 fails=$2
  shift 2
  local search=()
  [ "$fails" = - ] || search=(-DBFS)
  spin "$@" -a "$here/$model.pml" > spin.out 2>&1 &&
    cc "${OPT:--O2}" -w -DSAFETY -DNOREDUCE -DMEMLIM=4000 "${search[@]}" -o pan pan.c >> spin.out 2>&1
}

verdict() {   # fails: reads pan.out; prints nothing when all is as it should be
  local fails=$1
  if ! grep -q 'errors:' pan.out; then echo "the search did not finish"; return; fi
  if [ "$fails" != - ]; then
    if grep -q 'errors: 0' pan.out; then
      grep -Eq 'depth too small|not completed|aborted|MEMLIM' pan.out && echo "the search was cut short" || echo "nothing failed"
    elif ! grep -q "assertion violated.*$fails" pan.out; then
      echo "failed for another reason: $(grep -m1 '^pan:1:' pan.out)"
    fi
    return
  fi
  if ! grep -q 'errors: 0' pan.out; then grep -m1 '^pan:1:' pan.out; return; fi
  if grep -Eiq 'depth too small|not completed|aborted|MEMLIM|out of memory|truncated' pan.out; then
    echo "the search was cut short"; return
  fi
  # The monitor's assertion is there to stay unreached.
  local unreached
  unreached=$(grep -E 'state [0-9]+, "' pan.out | grep -Ev '"-end-"|"assert\(\(queue==0\)\)"' | head -1)
  [ -z "$unreached" ] || echo "never reached:$unreached"
}

run_case() {  # folder model name fails definitions...
  local folder=$1 model=$2 name=$3 fails=$4
  shift 4
  mkdir -p "$folder" && cd "$folder" || exit 1
  local begin=$EPOCHREALTIME wrong
  if compile "$model" "$fails" "$@"; then
    ./pan -m100000 -w22 > pan.out 2>&1
    wrong=$(verdict "$fails")
  else
    wrong="did not compile: $(head -1 spin.out)"
  fi
  local states seconds stats=""
  states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out 2> /dev/null)
  seconds=$(awk -v a="$begin" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }')
  [ -z "${STATS:-}" ] || stats="  [$states states, depth $(sed -n 's/.*depth reached \([0-9]*\).*/\1/p' pan.out 2> /dev/null), $seconds s]"
  if [ -n "$wrong" ]; then echo "FAIL $model/$name: $wrong$stats"
  elif [ "$fails" = - ]; then echo "ok $model/$name$stats"
  else echo "ok $model/$name fails as it must$stats"
  fi > line.tmp
  mv line.tmp line
  rm -f pan pan.?
}

if [ "${1:-}" = --case ]; then shift; run_case "$@"; exit 0; fi

quick="" show="" only=""
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=1; export OPT=-O1 ;;   # compiling is most of the time of a small search
    --stats) export STATS=1 ;;
    --only) [ $# -ge 2 ] || usage; only=$2; shift ;;
    --show) [ $# -ge 2 ] || usage; show=$2; shift ;;
    *) usage ;;
  esac
  shift
done

if ! command -v spin > /dev/null || ! command -v cc > /dev/null; then
  echo "skipped: install spin and a C compiler"
  exit 0
fi

work=$(mktemp -d)
pool=""
cleanup() { [ -z "$pool" ] || kill -- "-$pool" 2> /dev/null; rm -rf "$work"; }
trap cleanup EXIT
trap 'exit 130' INT TERM

if [ -n "$show" ]; then
  while IFS='|' read -r _ model name fails flags; do
    read -r model <<< "$model"; read -r name <<< "$name"; read -r fails <<< "$fails"
    [ "$model/$name" = "$show" ] || continue
    [ "$fails" != - ] || { echo "run.sh: $show is not a twin, so it has no counter-example" >&2; exit 2; }
    cd "$work" || exit 1
    # shellcheck disable=SC2086
    compile "$model" "$fails" $flags || { cat spin.out >&2; exit 1; }
    ./pan -m100000 -w22 > pan.out 2>&1
    # shellcheck disable=SC2086
    spin $flags -t -k "$model.pml.trail" -p -g -l "$here/$model.pml"
    exit 0
  done < <(cases)
  echo "run.sh: no case named $show" >&2
  exit 2
fi

# One folder per case, numbered so that the lines come out in the order above whatever finishes first.
n=0
while IFS='|' read -r when model name fails flags; do
  read -r when <<< "$when"
  [ -z "$quick" ] || [ "$when" = quick ] || continue
  read -r model <<< "$model"; read -r name <<< "$name"; read -r fails <<< "$fails"; read -r flags <<< "$flags"
  [[ $model/$name == "$only"* ]] || continue
  n=$((n + 1))
  echo "--case $work/$n $model $name $fails${flags:+ $flags}" >> "$work/list"
done < <(cases)
[ "$n" -gt 0 ] || { echo "run.sh: no case begins with $only" >&2; exit 2; }

jobs=$(getconf _NPROCESSORS_ONLN 2> /dev/null || echo 1)
[ "$jobs" -le 4 ] || jobs=4           # each may take a few hundred megabytes
set -m                                 # a process group of its own, so that an interrupt ends the searches too
xargs -P "$jobs" -L 1 bash "$here/run.sh" < "$work/list" &
pool=$!
set +m

passed=0 failed=0
for ((i = 1; i <= n; i++)); do
  while [ ! -e "$work/$i/line" ]; do
    if ! kill -0 "$pool" 2> /dev/null && [ ! -e "$work/$i/line" ]; then
      mkdir -p "$work/$i"
      echo "FAIL case $i: the run was interrupted" > "$work/$i/line"
    fi
    sleep 0.05
  done
  cat "$work/$i/line"
  if grep -q ^ok "$work/$i/line"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
pool=""
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
