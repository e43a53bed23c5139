// The version of kleym: that of the package, which the bundle takes in.
import manifest from '../../package.json' with { type: 'json' }

export const VERSION: string = manifest.version
