#!/usr/bin/env bash
# A step of action.yml: scans the logs of a job, prints the verdict, annotates the run, and hands the verdict to later steps.
#
# What the workflow says comes in variables, since the text of an expression would be part of a script. Lists have an entry a line:
#   NCCL_LOGSCAN_PROGRAM      the program; Python is beside it
#   NCCL_LOGSCAN_LOGS         logs, folders, patterns
#   NCCL_LOGSCAN_CONFIG       launch scripts and configurations
#   NCCL_LOGSCAN_RULES        folders of rules
#   NCCL_LOGSCAN_OUTPUT       reports to write
#   NCCL_LOGSCAN_REDACT       true or false
#   NCCL_LOGSCAN_ANNOTATIONS  true or false
#   NCCL_LOGSCAN_FAIL_ON      never or failure
# It leaves with 0, with 1 where the verdict fails the step, with the program's exit code where it could not do its work.
set -euo pipefail

tell() { printf '::%s title=nccl-logscan::%s\n' "$1" "$2"; }

fail() {
  tell error "$2"
  exit "$1"
}

must_be_one_of() { # NAME VALUE CHOICE...
  local name=$1 value=$2 choice
  shift 2
  for choice; do [ "$value" != "$choice" ] || return 0; done
  fail 2 "$name is to be one of: $*"
}

# Sets the array `entries` to the lines of a list, without blanks around them and without empty ones.
split() {
  local line
  entries=()
  while IFS= read -r line || [ -n "$line" ]; do
    read -r line <<<"${line%$'\r'}" || true
    [ -z "$line" ] || entries+=("$line")
  done <<<"$1"
}

redact=${NCCL_LOGSCAN_REDACT:-false}
annotations=${NCCL_LOGSCAN_ANNOTATIONS:-true}
fail_on=${NCCL_LOGSCAN_FAIL_ON:-never}
must_be_one_of redact "$redact" true false
must_be_one_of annotations "$annotations" true false
must_be_one_of fail-on "$fail_on" never failure

own=$(mktemp -d "$RUNNER_TEMP/nccl-logscan-scan.XXXXXX")
trap 'rm -rf "$own"' EXIT
options=(--quiet --output "$own/verdict.json" --output "$own/verdict.txt" --output "$own/verdict.github.txt")
[ "$redact" = false ] || options+=(--redact)

split "${NCCL_LOGSCAN_CONFIG:-}"
for entry in ${entries[@]+"${entries[@]}"}; do options+=(--config "$entry"); done
split "${NCCL_LOGSCAN_RULES:-}"
for entry in ${entries[@]+"${entries[@]}"}; do options+=(--rules "$entry"); done
split "${NCCL_LOGSCAN_OUTPUT:-}"
reports=(${entries[@]+"${entries[@]}"})
for report in ${reports[@]+"${reports[@]}"}; do
  mkdir -p -- "$(dirname -- "$report")"
  options+=(--output "$report")
done
split "${NCCL_LOGSCAN_LOGS:-}"
[ ${#entries[@]} -gt 0 ] || fail 2 'logs is empty: name the files or folders that the job wrote its logs to'

# The runner obeys what looks like a command to it, and a log may hold anything: it is to stop until it is told this word.
word=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
code=0
printf '::stop-commands::%s\n' "$word"
"$NCCL_LOGSCAN_PROGRAM" scan "${options[@]}" -- "${entries[@]}" </dev/null 2>&1 || code=$?
[ ! -e "$own/verdict.txt" ] || cat "$own/verdict.txt"
printf '\n::%s::\n' "$word"

if [ -e "$own/verdict.json" ]; then
  [ "$annotations" = false ] || [ ! -e "$own/verdict.github.txt" ] || cat "$own/verdict.github.txt"
  python=$(dirname "$NCCL_LOGSCAN_PROGRAM")/python
  here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
  "$python" "$here/outputs.py" "$own/verdict.json" ${reports[@]+"${reports[@]}"} >>"$GITHUB_OUTPUT"
fi

case $code in
  0) ;;
  1) [ "$fail_on" = never ] || exit 1 ;;
  3)
    [ "$fail_on" = never ] || fail 1 'found nothing to judge, and the step is to pass only for a healthy job'
    tell warning 'found nothing to judge; the log of this step says why'
    ;;
  *) fail "$code" "could not do its work (exit code $code); the log of this step says why" ;;
esac
