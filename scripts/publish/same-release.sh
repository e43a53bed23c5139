#!/usr/bin/env bash
# same-release.sh BUILT AGAIN SHA256: whether a release that was made again is, byte for byte, the one that goes out. SHA256 is
# that of the SHA256SUMS of BUILT, and comes from the build another way than the files do.
set -euo pipefail
here="$(dirname "$0")"
. "$here/tags.sh"

"$here/check-files.sh" "$1" "$3"
(cd "$2" && sha256sum --check --strict --quiet SHA256SUMS)
different="$(LC_ALL=C comm -3 <(LC_ALL=C sort "$1/SHA256SUMS") <(LC_ALL=C sort "$2/SHA256SUMS") | tr -d '\t' | cut -c 67- | sort -u | tr '\n' ' ')"
[ -z "$different" ] || fail 'two machines did not make the same release' "these differ: $different" \
  'where it is the root file system alone, the machines may have had other libraries: run all jobs again. Otherwise publish nothing, and find out which machine is right'
