#!/usr/bin/env bash
# build-crane.sh FOLDER: builds crane, which speaks to registries, from the module that the tests of these scripts use: go.sum
# locks every byte of it.
set -euo pipefail

mkdir -p "$1"
cd "$(dirname "$0")/../../test/control-plane/go/crane"
CGO_ENABLED=0 go build -mod=readonly -trimpath -o "$1/crane" github.com/google/go-containerregistry/cmd/crane
