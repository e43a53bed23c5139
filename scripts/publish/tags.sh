# What a tag of a registry points to: for the scripts beside it, which source it.

# Prints the digest that a tag has, or nothing where there is no such tag. Fails where the registry does not say which: an
# outage must not look like a free name.
digest_of_tag() {
  local answer
  if answer="$(crane digest "$1" 2>&1)"; then
    printf '%s\n' "$answer"
  elif ! grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|404 Not Found' <<<"$answer"; then
    fail "it is not known whether $1 exists" "the registry says: $answer" 'run the job again'
  fi
}

fail() {
  printf 'error: %s\n  why:  %s\n  fix:  %s\n' "$1" "$2" "$3" >&2
  return 1
}
