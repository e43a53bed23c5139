// How stdin is called, apart from what reads it: the flags need the word, and not the readers.

/** How a command line calls stdin. */
export const STDIN_ARGUMENT = '-'
