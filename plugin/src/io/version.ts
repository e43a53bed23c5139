// The version of the program.
import manifest from '../../package.json' with { type: 'json' }

/** That of the package, which the bundle takes in. */
export const VERSION: string = manifest.version
