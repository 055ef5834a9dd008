#!/usr/bin/env bash
# A step of action.yml: installs nccl-logscan into an environment of its own, and hands the program's path to the next step.
#
#   NCCL_LOGSCAN_PYTHON   the interpreter, 3.11 or newer; python3 if it is empty
#   NCCL_LOGSCAN_SOURCE   what pip installs; the checkout that this script is part of, if it is empty
set -euo pipefail

python=${NCCL_LOGSCAN_PYTHON:-python3}
checkout=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source=${NCCL_LOGSCAN_SOURCE:-$checkout}
environment=$RUNNER_TEMP/nccl-logscan

fail() {
  printf '::error title=nccl-logscan::%s\n' "$1"
  exit 1
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail 'needs Python 3.11 or newer: give the action a python-version, such as 3.12'
"$python" -m venv "$environment" ||
  fail 'python3 cannot make a virtual environment here (Debian and Ubuntu: the package python3-venv)'
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check -- "$source" ||
  fail 'pip could not install nccl-logscan; what it said stands above'

printf 'program=%s\n' "$environment/bin/nccl-logscan" >>"$GITHUB_OUTPUT"
