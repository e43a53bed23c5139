#!/usr/bin/env bash
# What HEAD changes against its merge base with BASE, in the repository of the working folder. Writes diff.md and kleym.sarif into a
# folder, and ends with the code of the first question that fails. MANIFESTS is a folder from the root of the repository, and so are the
# files that --scm-config and --config name in FLAGS: those of the merge base count.
set -euo pipefail
out=$1
# The change's own copy of a file that decides how it is judged is whatever its author wants it to be.
read -ra flags <<<"$(sed -E "s#(^| )--(scm-)?config[= ]+#\1--\2config=$out/base/#g" <<<"${FLAGS:-}")"
cd "$(git rev-parse --show-toplevel)"
base=$(git merge-base "$BASE" HEAD) || {
  echo "kleym: $BASE has no common commit with HEAD here; check out the whole history (fetch-depth: 0)" >&2
  exit 4
}
mkdir -p "$out"
git worktree add --quiet --detach "$out/base" "$base"
trap 'git worktree remove --force "$out/base"' EXIT
# A folder that the change brings is empty before it.
mkdir -p "$out/base/$MANIFESTS"

failed=0
ask() { # ALLOWED COMMAND...: runs it; a code other than 0 and ALLOWED fails.
  local allowed=$1 code=0
  shift
  kubectl-kleym "$@" --offline -R -f "$MANIFESTS" "${flags[@]}" || code=$?
  if [ "$code" -ne 0 ] && [ "$code" -ne "$allowed" ] && [ "$failed" -eq 0 ]; then failed=$code; fi
}
ask 1 diff --base "$out/base/$MANIFESTS" -o markdown > "$out/diff.md"
ask 4 conflicts -o sarif --fail-on never > "$out/kleym.sarif"
ask 0 explain -A -o "${FORMAT:-github}"
ask 0 conflicts -A -o "${FORMAT:-github}"
exit "$failed"
