#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# build.sh OUTDIR: builds every native peer that this machine can build, into OUTDIR.
# A peer that is up to date is left alone. One that cannot be built costs one line on standard output,
# "skipped NAME: CURE", and nothing else: the exit status is 0. CC and CFLAGS may be set.

set -u
if [ $# -ne 1 ]; then
  echo "Usage: build.sh OUTDIR" >&2
  exit 2
fi
out=$1
cd_to=$(dirname "$0")
cc=${CC:-cc}
flags="-std=gnu11 -O2 -Wall -Wextra -Werror -pthread ${CFLAGS:-}"

mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd) || exit 1
cd "$cd_to" || exit 1
tmp=$(mktemp -d "$out/.build.XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# can_include HEADER FLAGS...: whether the compiler finds the header
can_include() {
  wanted=$1
  shift
  echo "#include <$wanted>" | $cc "$@" -E -x c - >/dev/null 2>&1
}

# build NAME HEADER PACKAGE SOURCE FLAGS...: FLAGS follow the source, so libraries may be among them
build() {
  name=$1 header=$2 package=$3 source=$4
  shift 4
  if [ -x "$out/$name" ] &&
    [ -z "$(find "$source" harness.c harness.h reading.h tracepoints.h build.sh -newer "$out/$name")" ]; then
    return
  fi
  rm -f "$out/$name" # older than its source: worse than none
  if ! command -v "${cc%% *}" >/dev/null 2>&1; then
    echo "skipped $name: install build-essential"
  elif ! can_include pthread.h; then
    echo "skipped $name: install libc6-dev"
  elif ! can_include "$header" "$@"; then
    echo "skipped $name: install $package"
  elif $cc $flags "$source" harness.c -o "$tmp/$name" "$@" 2>"$tmp/$name.log"; then
    mv -f "$tmp/$name" "$out/$name"
    rm -f "$out/$name.log"
  else
    mv -f "$tmp/$name.log" "$out/$name.log"
    echo "skipped $name: the compiler failed, see $out/$name.log"
  fi
}

# library PKG-CONFIG-NAME FLAGS...: what pkg-config says, or else FLAGS
library() {
  pkg=$1
  shift
  pkg-config --cflags --libs "$pkg" 2>/dev/null || echo "$@"
}

# The library's flags are several words on purpose.
for flavour in memb mb qsbr bp; do
  upper=$(echo $flavour | tr '[:lower:]' '[:upper:]')
  build "urcu-$flavour" "urcu/urcu-$flavour.h" liburcu-dev urcu.c "-DFLAVOUR_$upper" \
    $(library "liburcu-$flavour" "-lurcu-$flavour" -lurcu-common)
done
build urcu-mb-locked urcu/urcu-mb.h liburcu-dev urcu.c -DFLAVOUR_MB -DLOCKED_FENCE \
  $(library liburcu-mb -lurcu-mb -lurcu-common)
build pthread-rwlock pthread.h libc6-dev locks.c
build pthread-locks pthread.h libc6-dev contended.c
build ck-locks ck_spinlock.h libck-dev contended.c -DCONCURRENCY_KIT
build membarrier linux/membarrier.h linux-libc-dev membarrier.c
build bystander sched.h libc6-dev bystander.c
build lttng-ust lttng/tracepoint.h liblttng-ust-dev tracing.c -I. $(library lttng-ust -llttng-ust -llttng-ust-common -ldl)
exit 0
