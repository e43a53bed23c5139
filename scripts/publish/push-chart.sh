#!/usr/bin/env bash
# push-chart.sh ARCHIVE REPOSITORY: pushes a chart to REPOSITORY/NAME:VERSION and prints its digest. A version that exists is
# never overwritten; HELM_PUSH_FLAGS is for a registry without TLS.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

manifest="$(helm show chart "$1")"
name="$(sed -n 's/^name: //p' <<<"$manifest")"
version="$(sed -n 's/^version: //p' <<<"$manifest")"
target="$2/$name:$version"
existing="$(digest_of_tag "$target")"
[ -z "$existing" ] || fail "the chart is not pushed" "$target exists, as $existing" 'a released version stays what it is: release a new one'
# shellcheck disable=SC2086 # A list of flags.
helm push ${HELM_PUSH_FLAGS:-} "$1" "oci://$2" >&2
digest_of_tag "$target"
