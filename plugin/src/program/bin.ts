/** How help and errors call the program, whatever it was started as. */
export const BIN = 'kubectl kleym'
