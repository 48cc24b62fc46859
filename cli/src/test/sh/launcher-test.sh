#!/bin/sh
# launcher-test.sh LAUNCHER FOLDER: drives the launcher in a copy of the project's shape, with a JDK and a Maven that
# only say what they were asked. Prints "all well" and exits 0, or names what failed.
set -u
launcher=$1
work=$2/launcher
failures=0
mkdir -p "$work/project" "$work/jdks/good/bin" "$work/jdks/old/bin" "$work/tools" "$work/elsewhere"
cp "$launcher" "$work/project/quiesce"

# --- A fake JDK 25, a fake JDK 17, a fake Maven -------------------------------------------------------

cat >"$work/jdks/good/bin/java" <<'X'
#!/bin/sh
echo "java $*"
X
cp "$work/jdks/good/bin/java" "$work/jdks/good/bin/javac"
chmod +x "$work/jdks/good/bin/java" "$work/jdks/good/bin/javac"
cp "$work/jdks/good/bin/java" "$work/jdks/good/bin/javac" "$work/jdks/old/bin/"
echo 'JAVA_VERSION="25.0.3"' >"$work/jdks/good/release"
echo 'JAVA_VERSION="17.0.15"' >"$work/jdks/old/release"

cat >"$work/tools/mvn" <<X
#!/bin/sh
case "\$*" in
  *verify*) echo "verify in \$(pwd) with \$JAVA_HOME: \$*"; exit 7 ;;
esac
echo build >>"$work/builds"
[ ! -f "$work/broken" ] || { echo "[ERROR] /x/Y.java:[1,2] no"; exit 1; }
sleep 0.3
mkdir -p cli/target/lib
: >cli/target/lib/quiesce-core.jar
X
chmod +x "$work/tools/mvn"

project=$work/project
mkdir -p "$project/core/src/main/java" "$project/cli/src/main"
echo '<project/>' >"$project/pom.xml"
cp "$project/pom.xml" "$project/core/"
cp "$project/pom.xml" "$project/cli/"
echo 'class A {}' >"$project/core/src/main/java/A.java"

# run NAME=VALUE... -- ARGUMENTS: the launcher with a clean environment; sets said, errors, status
run() {
  settings=
  while [ "$1" != -- ]; do
    settings="$settings $1"
    shift
  done
  shift
  # The settings have no blanks in them.
  said=$(env -i PATH="$work/tools:/usr/bin:/bin" HOME="$work" QUIESCE_JDKS="$work/jdks/good" $settings \
    "${command:-$project/quiesce}" "$@" 2>"$work/errors")
  status=$?
  errors=$(cat "$work/errors")
}

check() {
  what=$1
  shift
  if ! "$@"; then
    echo "FAIL $what: status $status, said '$said', errors '$errors'"
    failures=$((failures + 1))
  fi
}

is() { [ "$1" = "$2" ]; }
has() { case $1 in *"$2"*) true ;; *) false ;; esac; }
builds() { wc -l <"$work/builds" | tr -d ' '; }
: >"$work/builds"

# --- No JDK, or only an old one ------------------------------------------------------------------------

for jdks in "$work/jdks/none" "$work/jdks/old"; do
  # PATH holds no javac in a real minimal system; here it may, so the test asks with tools only.
  mkdir -p "$work/bare"
  for tool in sh sed dirname readlink cat env find head mkdir mv rm grep tail flock; do
    path=$(command -v $tool) && ln -sf "$path" "$work/bare/$tool"
  done
  run PATH="$work/bare" QUIESCE_JDKS="$jdks" JAVA_HOME="$work/jdks/old" -- --version
  check "no JDK: status" is "$status" 1
  check "no JDK: says what to install" has "$errors" "No JDK 25 or later was found; install one"
  check "no JDK: one line" is "$(printf '%s\n' "$errors" | wc -l | tr -d ' ')" 1
done

# --- First start builds, the second does not -------------------------------------------------------------

run -- doctor --json x
check "first: status" is "$status" 0
check "first: quiet" is "$errors" ""
check "first: built" is "$(builds)" 1
check "first: main class" has "$said" "io.quiesce.cli.Main doctor --json x"
check "first: home" has "$said" "-Dquiesce.home=$project"
run QUIESCE_OPTS=-Dquiesce.rseq=off -- bench
check "second: not built" is "$(builds)" 1
check "second: options" has "$said" "-Dquiesce.rseq=off"

# --- From elsewhere, through two links --------------------------------------------------------------------

ln -sf ../project/quiesce "$work/elsewhere/one"
ln -sf one "$work/elsewhere/two"
command=$work/elsewhere/two
(cd / && true)
run -- --version
check "link: home" has "$said" "-Dquiesce.home=$project"
check "link: not built" is "$(builds)" 1
command=

# --- Stale: an edited, a new and a removed source, a changed pom --------------------------------------------

sleep 1.1
echo 'class A { }' >"$project/core/src/main/java/A.java"
run -- --version
check "edited: built" is "$(builds)" 2
sleep 1.1
rm "$project/core/src/main/java/A.java"
run -- --version
check "removed: built" is "$(builds)" 3
sleep 1.1
touch "$project/core/pom.xml"
run -- --version
check "pom: built" is "$(builds)" 4
run -- --version
check "fresh: not built" is "$(builds)" 4

# --- A lost build folder, and many at once ------------------------------------------------------------------

rm -rf "$project/cli/target"
if command -v flock >/dev/null 2>&1; then
  for i in 1 2 3 4; do
    (run -- --version) &
  done
  wait
  check "at once: built once" is "$(builds)" 5
else
  run -- --version
fi
run -- --version
check "then: not built" is "$(builds)" 5

# --- A build that fails -----------------------------------------------------------------------------------------

sleep 1.1
touch "$project/pom.xml" "$work/broken"
run -- --version
check "broken: status" is "$status" 1
check "broken: reason" has "$errors" "[ERROR] /x/Y.java:[1,2] no"
check "broken: where" has "$errors" "cli/target/build.log"
rm "$work/broken"
run -- --version
check "mended: status" is "$status" 0

# --- test ----------------------------------------------------------------------------------------------------------

rm -rf "$project/cli/target"
before=$(builds)
command=$work/elsewhere/two
run -- test -o
check "test: Maven's status" is "$status" 7
check "test: in the project" has "$said" "verify in $project with $work/jdks/good"
check "test: arguments" has "$said" "-Pdist verify -o"
check "test: needs no build" is "$(builds)" "$before"
run -- test --help
check "test help: status" is "$status" 0
check "test help: usage" has "$said" "Usage: quiesce test"

[ $failures -eq 0 ] || exit 1
echo "all well"
