// The estate of manifests in examples/, as a command line names it.
import { join } from 'node:path'

/** The root of the project, from which the flags below are read. */
export const PROJECT_ROOT = join(import.meta.dirname, '../../..')

/** The flags that read the whole estate offline. */
export const ESTATE_FLAGS = ['--offline', '-R', '-f', 'examples/estate']
