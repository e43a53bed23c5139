/** A compiled pattern, why Go refuses it, or what of it is not understood here. */
export type GoRegexp =
  | { readonly kind: 'regexp'; matches(text: string): boolean }
  | { readonly kind: 'invalid'; readonly message: string }
  | { readonly kind: 'unsupported'; readonly construct: string }

/** Compiles a Go (RE2) regular expression; `matches` searches unanchored, as `Regexp.MatchString` does. */
export function compileGoRegexp(source: string): GoRegexp {
  return { kind: 'unsupported', construct: source }
}
