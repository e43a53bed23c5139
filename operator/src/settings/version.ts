// What this operator calls itself.
import manifest from '../../package.json' with { type: 'json' }

/** `0.1.0`. */
export const VERSION: string = manifest.version
/** What the API server's audit log calls us. */
export const USER_AGENT = `kleym-operator/${VERSION}`
