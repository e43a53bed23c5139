#!/usr/bin/env bash
# tag-image.sh REPOSITORY DIGEST TAG: names what was pushed. A tag that exists is never moved: with the same digest there is
# nothing to do, with another one this fails.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

existing="$(digest_of_tag "$1:$3")"
if [ -z "$existing" ]; then
  crane tag "$1@$2" "$3" >&2
  existing="$(digest_of_tag "$1:$3")"
fi
[ "$existing" = "$2" ] || fail "$1:$3 is not tagged" "it is ${existing:-nothing}, and was to be $2" 'a released version stays what it is: release a new one'
