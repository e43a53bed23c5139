// What a command line may give several times.
import * as Args from '@oclif/core/args'

/** A flag that may be given again; each time it takes the one word behind it. */
export const REPEATABLE = { multiple: true, multipleNonGreedy: true } as const

/** An argument of any number of words. None is taken from stdin, which may hold manifests. */
export const words = (description: string) => Args.string({ multiple: true, ignoreStdin: true, description })
