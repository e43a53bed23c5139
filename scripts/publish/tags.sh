# What a tag of a registry points to, and the file of a digest: for the scripts beside it, which source it.

# Prints the digest that a tag has, or nothing where there is no such tag. Fails where the registry does not say which: an
# outage must not look like a free name, nor must a 404 of anything but the manifest of that tag (a token service, a proxy).
digest_of_tag() {
  local answer
  if answer="$(crane digest "$1" 2>&1)"; then
    printf '%s\n' "$answer"
  elif ! grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|/manifests/[^ ]+: unexpected status code 404 Not Found' <<<"$answer"; then
    fail "it is not known whether $1 exists" "the registry says: $answer" 'run the job again'
  fi
}

# The name of the file of a digest: no path, whatever a manifest says.
blob_name() {
  [[ "$1" =~ ^sha256:[0-9a-f]{64}$ ]] || fail "$1 is no digest" 'an index or a manifest names it' 'look at what the job image has built'
  printf '%s\n' "${1#sha256:}"
}

fail() {
  printf 'error: %s\n  why:  %s\n  fix:  %s\n' "$1" "$2" "$3" >&2
  return 1
}
