#!/usr/bin/env bash
# check-files.sh FOLDER SHA256: whether the files of a release are those that the build has made. SHA256 is that of SHA256SUMS,
# which comes from the build another way than the files do; each file must stand in SHA256SUMS.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

# Files whose names begin with a dot, too: npm and others read their settings from such.
shopt -s dotglob
cd "$1"
sum="$(sha256sum SHA256SUMS | cut -d ' ' -f 1)"
[ "$sum" = "$2" ] || fail 'SHA256SUMS is another one' "its SHA-256 is $sum, and the build says $2" 'publish nothing; look at who can write artifacts of this run'
sha256sum --check --strict --quiet SHA256SUMS
for file in *; do
  [ "$file" = SHA256SUMS ] || cut -c 67- SHA256SUMS | grep -qxF "$file" ||
    fail "$file is not of this release" 'it does not stand in SHA256SUMS' 'publish nothing; look at who can write artifacts of this run'
done
