#!/usr/bin/env bash
# verify-signed.sh image REFERENCE@DIGEST, chart REFERENCE@DIGEST or files FOLDER: verifies signatures and attestations with the
# commands that docs/install.md gives its reader, for the repository and the tag of this run. What a reader could not verify is
# neither named nor put into a release.
set -euo pipefail

workflow="$GITHUB_REPOSITORY/.github/workflows/release.yml"
signer=(--certificate-identity "https://github.com/$workflow@$GITHUB_REF" --certificate-oidc-issuer https://token.actions.githubusercontent.com)
maker=(--repo "$GITHUB_REPOSITORY" --signer-workflow "$workflow" --source-ref "$GITHUB_REF")

case "$1" in
  image | chart)
    cosign verify "$2" "${signer[@]}" >&2
    gh attestation verify "oci://$2" "${maker[@]}"
    [ "$1" = chart ] || gh attestation verify "oci://$2" "${maker[@]}" --predicate-type https://cyclonedx.org/bom
    ;;
  files)
    cd "$2"
    cosign verify-blob SHA256SUMS --bundle SHA256SUMS.sigstore.json "${signer[@]}"
    sha256sum --check --strict --ignore-missing SHA256SUMS
    for file in ./*.tar.gz; do
      gh attestation verify "${file#./}" "${maker[@]}"
    done
    ;;
  *)
    printf 'error: %s cannot be verified\n  fix:  name image, chart or files\n' "$1" >&2
    exit 2
    ;;
esac
