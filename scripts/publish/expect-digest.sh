#!/usr/bin/env bash
# expect-digest.sh LAYOUT DIGEST: whether a layout of image-layout.sh is the one that the build has made. DIGEST comes from the
# build another way than the layout does.
set -euo pipefail
. "$(dirname "$0")/tags.sh"

digest="sha256:$(sha256sum "$1/index.json" | cut -d ' ' -f 1)"
[ "$digest" = "$2" ] || fail 'the image is another one' "it is $digest, and $2 was built" 'publish nothing; look at who can write artifacts of this run'
