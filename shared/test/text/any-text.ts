// Random text for what works on bytes.
import * as fc from 'fast-check'

/** Any UTF-16 string, unpaired surrogates included, short enough that blocks and boundaries are met often. */
export const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.string({
    unit: fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '\uffff', '\0'),
    maxLength: 200,
  }),
)
