#!/bin/bash
# Epilog of slurmd: says why a job failed, in a report beside the job's log.
#
#   slurm.conf:  Epilog=/etc/slurm/epilog.d/50-nccl-logscan.sh
#
# slurmd runs it as root on each node of a job that has ended, outside the job's cgroup, without a search path, and in an
# environment of its own making in which a user sets no name that is used here. While it runs the node is COMPLETING; if it
# fails, the node is drained. Therefore it leaves with 0, whatever happens, and after TIME_LIMIT seconds, whatever hangs. All
# that touches the user's files is done as the user, at the lowest priority, and by a process that is not waited for any longer
# than that: on a file server that does not answer, none can be killed. No command of Slurm's is called, as its manual asks.
#
# One node of a job makes the report: the one that is first to create the file. A Slurm that does not tell its epilogs how the job
# ended (SLURM_JOB_EXIT_CODE2) and where its output went (SLURM_JOB_STDOUT), as old ones do not, gets no reports.
PATH=/usr/sbin:/usr/bin:/sbin:/bin
PROGRAM=${NCCL_LOGSCAN_PROGRAM:-/opt/nccl-logscan/bin/nccl-logscan}
TIME_LIMIT=${NCCL_LOGSCAN_TIME_LIMIT:-60}

# Whether this is a job of GPUs that failed, of a user whom one may become.
is_wanted() {
  [[ ${SLURM_JOB_GPUS:-} && ${SLURM_JOB_STDOUT:-} && ${SLURM_JOB_WORK_DIR:-} ]] || return 1
  [[ ${SLURM_JOB_EXIT_CODE2:-0:0} != 0:0 || ${SLURM_JOB_DERIVED_EC:-0} != 0 ]] || return 1
  [[ ${SLURM_JOB_ID:-} =~ ^[0-9]+$ && ${SLURM_JOB_UID:-} =~ ^[1-9][0-9]*$ && ${SLURM_JOB_GID:-} =~ ^[0-9]+$ ]]
}

# Prints the log's path with what sbatch replaces in a name: %j and %A by the job, %u by the user; fails if another is in it.
# shellcheck disable=SC2317,SC2329 # the user's shell calls this one and the next
path_of() { # PATTERN
  local path=$1
  path=${path//%j/$SLURM_JOB_ID}
  path=${path//%A/$SLURM_JOB_ID}
  path=${path//%u/$SLURM_JOB_USER}
  [[ $path != *%* ]] && printf '%s' "$path"
}

# Scans the log, as the user; nobody else may read the report.
# shellcheck disable=SC2317,SC2329
scan() {
  umask 077
  cd "$SLURM_JOB_WORK_DIR" || return
  local log report
  local -a logs=()
  for log in "$SLURM_JOB_STDOUT" "${SLURM_JOB_STDERR:-}"; do
    log=$(path_of "$log") && [[ -f $log ]] && logs+=("$log")
  done
  ((${#logs[@]})) || return
  report=nccl-logscan-$SLURM_JOB_ID
  ((${SLURM_JOB_RESTART_COUNT:-0} == 0)) || report+=-$SLURM_JOB_RESTART_COUNT
  report=$(dirname -- "${logs[0]}")/$report.html
  (set -o noclobber && : >"$report") || return # another node is at it, or the place is not writable
  nice -n 19 ionice -c 3 timeout --kill-after=5 "$TIME_LIMIT" \
    "$PROGRAM" scan --quiet --exit-zero --jobs 1 --output "$report" -- "${logs[@]}" || rm -f -- "$report"
}

# Becomes the job's user and scans; only root may become another.
scan_as_user() {
  local -a become=()
  if ((EUID == 0)); then
    become=(setpriv --reuid "$SLURM_JOB_UID" --regid "$SLURM_JOB_GID" --init-groups --no-new-privs --inh-caps=-all)
  elif ((EUID != SLURM_JOB_UID)); then
    return
  fi
  export PROGRAM TIME_LIMIT
  "${become[@]}" setsid /bin/bash -c "$(declare -f path_of scan); scan" </dev/null >/dev/null 2>&1
}

if is_wanted; then
  scan_as_user &
  worker=$!
  for ((tenths = 0; tenths < (TIME_LIMIT + 6) * 10; tenths++)); do
    kill -0 "$worker" 2>/dev/null || break
    sleep 0.1
  done
fi
exit 0
