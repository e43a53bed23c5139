#!/usr/bin/env bash
# image-layout.sh DIR ARCH=ARCHIVE...: puts the images of several architectures, each an archive of an OCI layout, into one
# layout, and prints the digest of the index that names them all. It needs no registry: the digest is known before anything is
# pushed. https://github.com/opencontainers/image-spec/blob/v1.1.1/image-layout.md
set -euo pipefail
. "$(dirname "$0")/tags.sh"

layout="$1"
shift
mkdir -p "$layout/blobs/sha256"
manifests='[]'
for pair in "$@"; do
  arch="${pair%%=*}"
  one="$(mktemp -d)"
  tar -xf "${pair#*=}" -C "$one"
  count="$(jq '.manifests | length' "$one/index.json")"
  [ "$count" = 1 ] || fail "${pair#*=} is not one image" "its index names $count manifests" 'build it with --provenance=false'
  digest="$(jq -r '.manifests[0].digest' "$one/index.json")"
  config="$(jq -r .config.digest "$one/blobs/sha256/$(blob_name "$digest")")"
  is="$(jq -r '.os + "/" + .architecture' "$one/blobs/sha256/$(blob_name "$config")")"
  [ "$is" = "linux/$arch" ] || fail "${pair#*=} is not for linux/$arch" "it is for $is" 'look at the matrix of the job image'
  for blob in "$one"/blobs/sha256/*; do
    sum="$(sha256sum "$blob" | cut -d ' ' -f 1)"
    [ "$sum" = "$(basename "$blob")" ] || fail "$blob is damaged" "its SHA-256 is $sum" 'build the image again'
  done
  cp "$one"/blobs/sha256/* "$layout/blobs/sha256/"
  manifests="$(jq -c --arg arch "$arch" --slurpfile index "$one/index.json" \
    '. + [$index[0].manifests[0] | {mediaType, digest, size, platform: {architecture: $arch, os: "linux"}}]' <<<"$manifests")"
  rm -rf "$one"
done
printf '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
jq -cj '{schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json", manifests: .}' <<<"$manifests" >"$layout/index.json"
printf 'sha256:%s\n' "$(sha256sum "$layout/index.json" | cut -d ' ' -f 1)"
