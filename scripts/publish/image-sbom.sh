#!/usr/bin/env bash
# image-sbom.sh LAYOUT ARCH: prints the bill of materials that the image of an architecture holds. It is found from index.json
# by digests alone, and each is compared: who knows that of index.json knows what this prints.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

# Prints the path of a blob that is what its digest says.
blob() {
  local path="$1/blobs/sha256/$(blob_name "$2")"
  local sum
  sum="$(sha256sum "$path" | cut -d ' ' -f 1)"
  [ "sha256:$sum" = "$2" ] || fail "$path is damaged" "its SHA-256 is $sum" 'publish nothing; look at who can write artifacts of this run'
  printf '%s\n' "$path"
}

manifest="$(blob "$1" "$(jq -r --arg arch "$2" '.manifests[] | select(.platform.architecture == $arch) | .digest' "$1/index.json")")"
layer="$(blob "$1" "$(jq -r '.layers[0].digest' "$manifest")")"
tar -xOf "$layer" usr/share/doc/kleym-operator/sbom.cdx.json
