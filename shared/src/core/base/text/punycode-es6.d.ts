// The ES module of punycode, which ships no types. The bare name `punycode` is a module of Node, which is to go.
declare module 'punycode/punycode.es6.js' {
  /** The text that a label without its `xn--` stands for. Throws a `RangeError` where it stands for none. */
  export function decode(encoded: string): string
  /** The reverse of `decode`. */
  export function encode(text: string): string
}
