#!/usr/bin/env bash
# expect-merged.sh COMMIT BRANCH: whether what is released stands on the branch, where it was reviewed. This finds a tag in the
# wrong place, not an attacker: whoever may push a tag of another commit may have changed the workflow there
# (.github/SECURITY.md says what stops that).
set -euo pipefail
. "$(dirname "$0")/tags.sh"

git merge-base --is-ancestor "$1" "$2" ||
  fail "$1 is not released" "it does not stand on $2" 'merge it, and put the tag on the merged commit'
