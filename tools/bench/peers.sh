#!/bin/sh
# One virtual environment a peer, so that simlab can be timed beside libraries that it never depends on.
#
#   tools/bench/peers.sh                     every peer, under ${SIMLAB_BENCH_PEERS:-$HOME/.cache/simlab-bench}
#   tools/bench/peers.sh neural-tangents     only that one
#   tools/bench/peers.sh ./peers jax torch   an argument with a slash is the directory
#
# Idempotent: an environment whose requirements have not changed is left alone. A peer that cannot be installed is
# reported, the others go on, and the exit code is 1. SIMLAB_BENCH_PYTHON names another Python than python3.11.
# Of PyTorch a build without CUDA is taken; SIMLAB_BENCH_CUDA=1 takes one with it, several GB, where there is no other.
set -u

home=${SIMLAB_BENCH_PEERS:-$HOME/.cache/simlab-bench}
peers=
for argument in "$@"; do
    case $argument in
        -h | --help) sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 0 ;;
        */*) home=$argument ;;
        *) peers="$peers $argument" ;;
    esac
done
python=${SIMLAB_BENCH_PYTHON:-python3.11}

requirements() {
    case $1 in
        # The last release, and the newest JAX, NumPy and SciPy that it still works with.
        neural-tangents) echo "neural-tangents==0.6.5 jax==0.4.23 jaxlib==0.4.23 numpy<2 scipy<1.13" ;;
        jax) echo "jax[cpu]" ;;
        torch) echo "torch numpy" ;;
        scikit-learn) echo "scikit-learn" ;;
        *) return 1 ;;
    esac
}

# Install what pip would take for these arguments, unless a CUDA package is among it.
without_cuda() {
    needed=$("$pip_python" -m pip --disable-pip-version-check install -qq --dry-run --report - "$@" 2>/dev/null) &&
        ! echo "$needed" | grep -q '"name": *"\(nvidia\|cuda\)' &&
        "$pip_python" -m pip --disable-pip-version-check install -qq "$@"
}

# PyTorch without CUDA, from the first place that has it: PyTorch's own index of CPU builds; the newest version marked
# +cpu that pip finds; the newest version at all, where it needs no CUDA (macOS, ARM).
install_torch() {
    pip_python=$1
    without_cuda --retries 1 --timeout 10 --index-url https://download.pytorch.org/whl/cpu torch && return
    marked=$("$pip_python" -m pip index versions torch 2>/dev/null | grep -o '[0-9][0-9.]*+cpu' | head -n 1)
    [ -n "$marked" ] && without_cuda "torch==$marked" && return
    without_cuda torch && return
    if [ -n "${SIMLAB_BENCH_CUDA:-}" ]; then
        "$pip_python" -m pip install --quiet torch
    else
        echo "torch: pip finds no build without CUDA; SIMLAB_BENCH_CUDA=1 takes the one with it, several GB" >&2
        return 1
    fi
}

make_peer() {
    where=$home/$1
    # The stamp is written last: an interrupted installation has none, and is done again.
    if [ "$(cat "$where/.installed" 2>/dev/null)" = "$2" ]; then
        echo "$1: already in $where"
        return 0
    fi
    mkdir -p "$where" && "$python" -m venv --clear "$where" || return 1
    "$where/bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip || return 1
    if [ "$1" = torch ]; then
        install_torch "$where/bin/python" || return 1
    fi
    # Unquoted on purpose: one word a requirement.
    # shellcheck disable=SC2046,SC2086
    "$where/bin/python" -m pip install --quiet --disable-pip-version-check $2 || return 1
    echo "$2" >"$where/.installed"
    echo "$1: installed in $where"
}

failed=
for peer in ${peers:-neural-tangents jax torch scikit-learn}; do
    if ! wanted=$(requirements "$peer"); then
        echo "$peer: not a peer; there are neural-tangents, jax, torch, scikit-learn" >&2
        failed="$failed $peer"
    elif ! make_peer "$peer" "$wanted"; then
        echo "$peer: could not be installed in $home/$peer" >&2
        failed="$failed $peer"
    fi
done
[ -z "$failed" ] || { echo "not installed:$failed" >&2; exit 1; }
