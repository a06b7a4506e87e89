#!/usr/bin/env bash
# Brings what tests need of this machine besides Docker, before the first of them starts: a package that
# is installed while a job runs changes what its sandboxes see.
set -euo pipefail
name="test set-up"
. "$(dirname "${BASH_SOURCE[0]}")/setup.lib.sh"
cache="${XDG_CACHE_HOME:-${HOME:?}/.cache}/benchflow-cloud"
mkdir -p "$cache"

# Tests of ordinary users make one, which only root can; whoever else runs them sees each skipped with that reason.
if is_debian_root && [ ! -e /usr/bin/newuidmap ]; then install_packages "$cache/apt.log" uidmap; fi
