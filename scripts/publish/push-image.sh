#!/usr/bin/env bash
# push-image.sh LAYOUT REPOSITORY DIGEST: pushes a layout of image-layout.sh by its digest, without a name for it, and reads
# every byte back. A layout with another digest than DIGEST is not pushed. Prints the digest.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

digest="$3"
"$(dirname "$0")/expect-digest.sh" "$1" "$digest"
crane push --index "$1" "$2@$digest" >&2
served="$(crane digest "$2@$digest")"
[ "$served" = "$digest" ] || fail "$2 serves another image" "it is $served, and $digest was pushed" 'run the job again'
# Fetches each manifest, configuration and layer, and compares it with its digest.
crane validate --remote "$2@$digest" >&2
printf '%s\n' "$digest"
