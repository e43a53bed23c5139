// The sentence of KLM402, as text at any width has it.

/** Matches that containers lose an identity and are left with none: `leftWithNone('proxy of 1 pod')`. */
export function leftWithNone(who: string): RegExp {
  return new RegExp(`${who} loses \\S+ and is left without an identity`.replaceAll(' ', '\\s+'))
}
