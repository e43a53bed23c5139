#!/usr/bin/env bash
# push-chart.sh ARCHIVE REPOSITORY: pushes a chart to REPOSITORY/NAME:VERSION and prints its digest. A version that exists is
# never overwritten: with the same archive there is nothing to do (a job that is run again), with another one this fails.
# HELM_PUSH_FLAGS is for a registry without TLS.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

manifest="$(helm show chart "$1")"
name="$(sed -n 's/^name: //p' <<<"$manifest")"
version="$(sed -n 's/^version: //p' <<<"$manifest")"
target="$2/$name:$version"
existing="$(digest_of_tag "$target")"
if [ -n "$existing" ]; then
  layers="$(crane manifest "$2/$name@$existing" | jq -c '[.layers[] | {mediaType, digest}]')"
  wanted='[{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","digest":"sha256:'"$(sha256sum "$1" | cut -d ' ' -f 1)"'"}]'
  [ "$layers" = "$wanted" ] || fail "the chart is not pushed" "$target exists, as $existing, with another content" 'a released version stays what it is: release a new one'
  printf '%s\n' "$existing"
  exit 0
fi
# shellcheck disable=SC2086 # A list of flags.
helm push ${HELM_PUSH_FLAGS:-} "$1" "oci://$2" >&2
digest_of_tag "$target"
