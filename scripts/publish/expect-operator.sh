#!/usr/bin/env bash
# expect-operator.sh LAYOUT ARCH [EXECUTABLE]: whether the image of an architecture is what scripts/image/Dockerfile makes: one
# layer with the files that scripts/image/root-fs.ts puts into it, no links, started as the operator by its user and with
# nothing set; and, given EXECUTABLE, whether that operator is, byte for byte, the one that the tests have run. The libraries
# are those of the base image, which this cannot compare.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

blobs="$1/blobs/sha256"
index="$1/index.json"
manifest="$blobs/$(blob_name "$(jq -r --arg arch "$2" '.manifests[] | select(.platform.architecture == $arch) | .digest' "$index")")"
config="$blobs/$(blob_name "$(jq -r .config.digest "$manifest")")"
layers="$(jq '.layers | length' "$manifest")"
[ "$layers" = 1 ] || fail "the image for $2 is not what the Dockerfile makes" "it has $layers layers, and a later one hides files of an earlier one" 'look at what the job image has built'
# BuildKit sets PATH itself.
other="$(jq -c '.config | {Entrypoint, Cmd, User, Env, WorkingDir, Volumes, OnBuild, Shell}
  | del(.[] | nulls) | .Env = ([.Env[]? | select(startswith("PATH=") | not)])
  | if .WorkingDir == "/" or .WorkingDir == "" then del(.WorkingDir) else . end
  | select(. != {Entrypoint: ["/kleym-operator"], User: "65532:65532", Env: []})' "$config")"
[ -z "$other" ] || fail "the image for $2 does not start as the Dockerfile says" "its configuration has $other" 'look at what the job image has built'
layer="$blobs/$(blob_name "$(jq -r '.layers[0].digest' "$manifest")")"
# Folders and plain files alone, and without the bits that change the user.
kinds="$(tar -tvf "$layer" | cut -c 1-10 | grep -vE '^[d-]([r-][w-][x-]){3}$' || true)"
[ -z "$kinds" ] || fail "the image for $2 holds what is no plain file" "an entry has the mode ${kinds%%$'\n'*}" 'look at what the job image has built'
strange="$(tar -tf "$layer" | sed 's|^\./||' | grep -vE \
  -e '/$|^$' \
  -e '^kleym-operator$' \
  -e '^etc/(group|nsswitch\.conf|passwd)$' \
  -e '^lib(64)?/([a-z0-9_-]+/)?(lib[a-z_+]+|ld-linux-[a-z0-9_-]+)\.so\.[0-9]+$' \
  -e '^usr/share/doc/[a-z0-9.+-]+/(copyright|LICENSE|NOTICES|sbom\.cdx\.json)$' || true)"
[ -z "$strange" ] || fail "the image for $2 holds a file that is not its own" "there is ${strange%%$'\n'*}" 'look at what the job image has built'
[ $# -gt 2 ] || exit 0
tested="$(sha256sum "$3" | cut -d ' ' -f 1)"
inside="$(tar -xOf "$layer" kleym-operator | sha256sum | cut -d ' ' -f 1)"
[ "$inside" = "$tested" ] || fail "the image for $2 is not of the operator that was tested" "it holds a kleym-operator with the SHA-256 $inside, and $tested was tested" 'see what differs: the same commit must give the same bytes'
