# Sourced by the scripts beside it: where the repository is, and how they speak.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=${0##*/}

# die MESSAGE: the thing, the reason, the remedy; ends the script.
die() {
    printf '%s: %s\n' "$me" "$*" >&2
    exit 1
}

# usage_error MESSAGE: a wrong command line.
usage_error() {
    printf '%s: %s; try scripts/%s --help\n' "$me" "$*" "$me" >&2
    exit 2
}

# say MESSAGE: progress, on stderr, so that a program's own output stays clean.
say() {
    printf '%s: %s\n' "$me" "$*" >&2
}

# help_from_header: prints the comment at the top of the script as its help.
help_from_header() {
    awk 'NR == 1 { next } !/^#/ { exit } { sub(/^# ?/, ""); print }' "$0"
}

# configure_build DIR ARGS...: sets up a build directory, or changes those options it does not have yet.
# What was asked for is kept in DIR/configured, because asking Meson itself takes longer than a small build.
configure_build() {
    local dir=$1 arg
    local -a missing=()
    shift
    if [ ! -f "$dir/build.ninja" ]; then
        rm -f "$dir/configured"
        run_quietly "$dir.log" meson setup "$@" "$dir" "$top"
        printf '%s\n' "$@" >"$dir/configured"
        rm -f "$dir.log"
        return
    fi
    for arg in "$@"; do
        grep -qxF -e "$arg" "$dir/configured" 2>/dev/null || missing+=("$arg")
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    run_quietly "$dir.log" meson configure "$dir" "${missing[@]}"
    for arg in "${missing[@]}"; do
        sed -i "\|^${arg%%=*}=|d" "$dir/configured" 2>/dev/null || true
        printf '%s\n' "$arg" >>"$dir/configured"
    done
    rm -f "$dir.log"
}

# run_quietly LOG COMMAND...: shows the output only when the command fails.
run_quietly() {
    local log=$1
    shift
    mkdir -p "$(dirname "$log")"
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        die "failed: $*"
    fi
}

# compile DIR [TARGETS...]: shows warnings and errors, not progress.
compile() {
    local dir=$1
    shift
    local log=$dir/compile.log
    if ! ninja -C "$dir" "$@" >"$log" 2>&1; then
        cat "$log" >&2
        die "$dir: the build failed; the compiler's messages are above"
    fi
}

# Whether warnings end the build: with the compiler kwalk is developed with, and in CI. A newer compiler's
# new warnings are not the fault of somebody who only wants to run kwalk.
warnings_are_errors() {
    if [ -n "${CI:-}" ] || [ "$(gcc -dumpversion 2>/dev/null)" = 12 ]; then
        echo true
    else
        echo false
    fi
}
