#!/bin/sh
# What a machine must have.
#   build        all that `make demo` and `make test` cannot do without
#   folder 2000  a folder that can be written, with so many megabytes of free space
#   browser, postgres  what some tests use, which are skipped without it
#   fresh        what `make fresh` needs
# What is missing is installed where that is allowed (root with apt-get); else one sentence says what to run. It is sh,
# because Python may be what is missing. `make` calls it with PYTHON, and with CXX if the user names a compiler.
set -u
PYTHON=${PYTHON:-python3}
HERE=$(pwd)

fail() {
  echo "error: $*" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

# ---------------------------------------------------------------- the folder

check_folder() { # the megabytes that it must have free
  case $HERE in
    *:*) fail "the folder $HERE has a colon in its path, which a Python environment cannot have: rename or move it." ;;
  esac
  for place in . .venv build dist; do
    if [ -e "$place" ] && [ ! -w "$place" ]; then
      owner=$(ls -ld "$place" | awk '{ print $3 }')
      fail "$(cd "$place" && pwd) cannot be written (it belongs to $owner, you are $(id -un)):" \
        "run make as $owner, or on a copy in a folder of your own."
    fi
  done
  free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1024) }')
  if [ "${free:-$1}" -lt "$1" ]; then
    fail "$HERE has $free MB of free space, and the set-up needs $1 MB: free some, or move the folder."
  fi
}

# ---------------------------------------------------------------- what is missing, and what installs it

missing= debian= fedora= macos=

lacks() { # what is missing, then the packages of Debian and of Fedora, and the command of macOS
  missing="$missing${missing:+, }$1" debian="$debian $2" fedora="$fedora $3"
  case $macos in *"$4"*) ;; *) macos="$macos${macos:+ && }$4" ;; esac
}

may_install() { [ "$(id -u)" = 0 ] && has apt-get; }

apt_install() {
  apt-get update --quiet --quiet &&
    DEBIAN_FRONTEND=noninteractive apt-get install --yes --quiet --quiet --no-install-recommends -o Dpkg::Use-Pty=0 \
      "$@" >/dev/null
}

install_command() {
  as_root=
  if [ "$(id -u)" != 0 ] && has sudo; then as_root='sudo '; fi
  on_debian="${as_root}apt-get update && ${as_root}apt-get install --yes$debian"
  on_fedora="${as_root}dnf install --assumeyes$fedora"
  if has apt-get; then
    echo "\`$on_debian\`"
  elif has dnf; then
    echo "\`$on_fedora\`"
  elif [ "$(uname -s)" = Darwin ]; then
    echo "\`$macos\`"
  else
    echo "\`$on_debian\` (Debian, Ubuntu), \`$on_fedora\` (Fedora) or \`$macos\` (macOS)"
  fi
}

ask_for_missing() {
  [ -z "$missing" ] && return
  who=
  if [ "$(id -u)" != 0 ] && ! has sudo && [ "$(uname -s)" != Darwin ]; then who=' as root'; fi
  fail "missing: $missing. Run$who $(install_command), then this command again."
}

# Installs once; what is missing after that is an error.
supply_tools() {
  find_tools
  if [ -n "$missing" ] && may_install; then
    echo "Installing$debian (missing: $missing)."
    # shellcheck disable=SC2086  # packages are words
    apt_install $debian || fail "apt-get could not install$debian, for the reason above: see to it that" \
      "$(install_command) works, then run this command again."
    missing= debian= fedora= macos=
    find_tools
  fi
  ask_for_missing
}

# ---------------------------------------------------------------- Python

python() { "$PYTHON" -c "$1" 2>/dev/null; }

find_python() {
  if ! has "$PYTHON"; then
    [ "$PYTHON" = python3 ] || fail "there is no Python named $PYTHON: name one of 3.11 or later, PYTHON=python3.12."
    lacks "Python 3.11 or later with its headers and venv" "python3 python3-dev python3-venv" "python3 python3-devel" \
      "brew install python"
  fi
}

check_python() {
  version=$(python 'import sys; print("%d.%d" % sys.version_info[:2])') ||
    fail "$PYTHON does not run: name a Python of 3.11 or later, PYTHON=python3.12."
  if ! python 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    for newer in python3.13 python3.12 python3.11; do
      if has $newer; then fail "Python 3.11 or later is needed, $PYTHON is $version: add PYTHON=$newer to this command."; fi
    done
    fail "Python 3.11 or later is needed, $PYTHON is $version: install a later one beside it, with its headers and venv," \
      "and add its name to this command, PYTHON=python3.12."
  fi
}

find_parts_of_python() {
  where=$(python 'import sys; print(sys.base_prefix)')
  lacking=
  python 'import os, sysconfig; os.stat(os.path.join(sysconfig.get_path("include"), "Python.h"))' || lacking=dev
  python 'import venv, ensurepip; ensurepip.version()' || lacking="$lacking venv"
  if [ -n "$lacking" ] && [ "$where" != /usr ] && [ "$(uname -s)" != Darwin ]; then
    fail "the Python in $where lacks its headers (Python.h) or the module ensurepip:" \
      "install it with both, or add another to this command, PYTHON=/usr/bin/python3."
  fi
  # The system's own Python may be one of several: packages with its number fit it.
  for part in $lacking; do
    case $part in
      dev) lacks "the headers of Python $version (Python.h)" "python$version-dev" python3-devel "brew install python" ;;
      venv) lacks "the module ensurepip of Python $version" "python$version-venv" python3-libs "brew install python" ;;
    esac
  done
}

# ---------------------------------------------------------------- the compiler

find_compiler() {
  if [ -n "${CXX:-}" ]; then
    has "${CXX%% *}" || fail "there is no C++ compiler named $CXX: add another to this command, CXX=g++."
  elif has c++ || has g++ || has clang++; then
    for CXX in c++ g++ clang++; do has $CXX && break; done # as CMake chooses
  else
    lacks "a C++ compiler" g++ gcc-c++ "xcode-select --install"
  fi
}

check_compiler() {
  # What the core takes from C++20.
  # shellcheck disable=SC2086  # CXX may be two words, as in `ccache g++`
  $CXX -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1 <<'END' ||
#include <bit>
#include <compare>
#include <ranges>
#include <span>
#include <thread>
struct Point { int x; auto operator<=>(const Point&) const = default; };
int f(std::span<const int> values) {
  std::jthread thread([] {});
  for (int i : std::views::iota(0, std::popcount(3u))) if (Point{values[0]} < Point{i}) return i;
  return 0;
}
END
    fail "the compiler $CXX does not compile C++20, which the core is written in: install a later one (GCC 11, Clang 18" \
      "or later) and add it to this command, CXX=g++-12."
}

find_tools() {
  find_python
  if [ -z "$missing" ]; then
    check_python
    find_parts_of_python
  fi
  find_compiler
}

# ---------------------------------------------------------------- what tests use

offer() { # the name, Debian's package, what is skipped without it
  if may_install; then
    apt_install "$2" || fail "apt-get could not install $2, for the reason above."
  else
    echo "No $1: the tests of $3 are skipped. Install the package $2."
  fi
}

case ${1:-} in
  build)
    check_folder 1000
    supply_tools
    check_compiler
    ;;
  folder) check_folder "$2" ;;
  browser)
    # The tests open reports in a real Chromium.
    has chromium || has chromium-browser || has google-chrome || offer Chromium chromium "reports in a browser"
    ;;
  postgres)
    # The tests of the workbench start a server of their own.
    has postgres || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 ||
      offer PostgreSQL postgresql "the workbench on it"
    ;;
  fresh)
    [ "$(id -u)" = 0 ] || fail "\`make fresh\` makes a root of Debian and mounts things there: run it as root."
    has debootstrap || { may_install && apt_install debootstrap; } ||
      fail "\`make fresh\` makes a root of Debian with debootstrap: install that package first."
    ;;
  *) fail "usage: sh setup/machine.sh build|folder|browser|postgres|fresh" ;;
esac
