#!/usr/bin/env bash
# expect-operator.sh LAYOUT ARCH EXECUTABLE: whether the operator in the image of an architecture is, byte for byte, the one
# that the tests have run.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

blobs="$1/blobs/sha256"
manifest="$(jq -r --arg arch "$2" '.manifests[] | select(.platform.architecture == $arch) | .digest' "$1/index.json")"
tested="$(sha256sum "$3" | cut -d ' ' -f 1)"
for layer in $(jq -r '.layers[].digest' "$blobs/${manifest#sha256:}"); do
  inside="$(tar -xOf "$blobs/${layer#sha256:}" kleym-operator 2>/dev/null | sha256sum | cut -d ' ' -f 1)" || continue
  [ "$inside" != "$tested" ] || exit 0
done
fail "the image for $2 is not of the operator that was tested" "no layer holds a kleym-operator with the SHA-256 $tested" 'see what differs: the same commit must give the same bytes'
