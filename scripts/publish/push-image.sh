#!/usr/bin/env bash
# push-image.sh LAYOUT REPOSITORY: pushes a layout of image-layout.sh by its digest, without a name for it, and reads every
# byte back. Prints the digest.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

digest="sha256:$(sha256sum "$1/index.json" | cut -d ' ' -f 1)"
crane push --index "$1" "$2@$digest" >&2
served="$(crane digest "$2@$digest")"
[ "$served" = "$digest" ] || fail "$2 serves another image" "it is $served, and $digest was pushed" 'run the job again'
# Fetches each manifest, configuration and layer, and compares it with its digest.
crane validate --remote "$2@$digest" >&2
printf '%s\n' "$digest"
