#!/usr/bin/env bash
# Puts kubectl-kleym into a folder. ARCHIVE is the address of the archive and SHA256 its digest: nothing else is unpacked.
set -euo pipefail
folder=$1
mkdir -p "$folder"
curl -fsSL --proto '=https,file' --proto-redir '=https' -o "$folder/archive.tar.gz" "$ARCHIVE"
echo "$SHA256  $folder/archive.tar.gz" | sha256sum --check --quiet
tar -xzf "$folder/archive.tar.gz" -C "$folder" kubectl-kleym
rm "$folder/archive.tar.gz"
