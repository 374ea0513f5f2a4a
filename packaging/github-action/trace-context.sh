#!/usr/bin/env bash
# Computes the trace context of a job of GitHub Actions as `penstock trace-context --forge github` does, without Node. It reads the
# variables of the job, JOB_ID and INSTANCE_ID, and writes to the files GITHUB_ENV and GITHUB_OUTPUT.
set -euo pipefail

missing=()
for name in GITHUB_RUN_ID GITHUB_REPOSITORY GITHUB_SERVER_URL GITHUB_ENV GITHUB_OUTPUT; do
  [ -n "${!name:-}" ] || missing+=("$name")
done
if [ "${#missing[@]}" -gt 0 ]; then
  echo "::error::not set: ${missing[*]}; this works inside a CI job only" >&2
  exit 2
fi

server=${GITHUB_SERVER_URL%/}
authority=${server#*://}
authority=${authority%%/*}
host=$(printf %s "${authority##*@}" | tr '[:upper:]' '[:lower:]')
case $server in
  [Hh][Tt][Tt][Pp][Ss]:*) host=${host%:443} ;;
  *) host=${host%:80} ;;
esac
instance="github ${INSTANCE_ID:-$host}"
attempt=${GITHUB_RUN_ATTEMPT:-1}
[ "$attempt" -le 1 ] || instance="$instance#$attempt"

if command -v sha256sum >/dev/null; then sha() { sha256sum | cut -c "1-$1"; }; else sha() { shasum -a 256 | cut -c "1-$1"; }; fi
trace_id=$(printf 'svc-ci\n1\ntrace\n%s\n%s' "$instance" "$GITHUB_RUN_ID" | sha 32)
if [ -n "${JOB_ID:-}" ]; then
  span_id=$(printf 'svc-ci\n1\njob\n%s\n%s\n%s' "$instance" "$GITHUB_RUN_ID" "$JOB_ID" | sha 16)
else
  echo '::notice::the id of the job is unknown, so spans of tools are below the span of the run'
  span_id=$(printf 'svc-ci\n1\npipeline\n%s\n%s' "$instance" "$GITHUB_RUN_ID" | sha 16)
fi
traceparent="00-$trace_id-$span_id-03"

# Prints a value with all bytes but A-Z a-z 0-9 . _ ~ / : - percent-encoded.
encoded() {
  local LC_ALL=C text=$1 at char
  for ((at = 0; at < ${#text}; at++)); do
    char=${text:at:1}
    case $char in
      [A-Za-z0-9._~/:-]) printf %s "$char" ;;
      # Old versions of bash print bytes above 127 as negative numbers.
      *) printf '%%%02X' "$(($(printf %d "'$char") & 255))" ;;
    esac
  done
}

# Adds an attribute, unless it is empty or too long for the SDK for JavaScript. Of equal keys, SDKs use the last.
attributes=${OTEL_RESOURCE_ATTRIBUTES:-}
add() {
  local value
  value=$(encoded "$2")
  [ -n "$value" ] && [ "${#value}" -le 255 ] || return 0
  attributes="${attributes:+$attributes,}$1=$value"
}
add cicd.pipeline.name "${GITHUB_WORKFLOW:-}"
add cicd.pipeline.run.id "$GITHUB_RUN_ID"
add cicd.pipeline.task.run.id "${JOB_ID:-}"
add vcs.repository.url.full "$server/$GITHUB_REPOSITORY"
# The commit of a pull request is the one of its merge, which the export does not name.
case ${GITHUB_EVENT_NAME:-} in
  pull_request*) add vcs.ref.head.name "${GITHUB_HEAD_REF:-}" ;;
  *)
    add vcs.ref.head.name "${GITHUB_REF_NAME:-}"
    add vcs.ref.head.revision "${GITHUB_SHA:-}"
    ;;
esac

printf '%s\n' "TRACEPARENT=$traceparent" "OTEL_RESOURCE_ATTRIBUTES=$attributes" >>"$GITHUB_ENV"
printf '%s\n' "traceparent=$traceparent" "trace-id=$trace_id" >>"$GITHUB_OUTPUT"
