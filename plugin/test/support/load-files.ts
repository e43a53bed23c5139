// Loads manifests from a folder, as `-f` does.
import { stringAt } from '@kleym/shared/core/base/json.ts'
import { loadFiles, type FileArguments, type LoadedFiles } from '../../src/sources/load.ts'
import type { SourceIo } from '../../src/io/context.ts'
import type { ReadingRules } from '../../src/sources/objects.ts'

/** The kinds that are read, unless a test says otherwise. */
export const RULES: ReadingRules = {
  wanted: [
    { group: '', kind: 'Pod', namespaced: true },
    { group: '', kind: 'ConfigMap', namespaced: true },
    { group: 'inference.networking.k8s.io', kind: 'InferencePool', namespaced: true },
    { group: 'spire.spiffe.io', kind: 'ClusterSPIFFEID', namespaced: false },
  ],
  namespace: 'default',
  dumps: false,
}

/** What a test says about the loading. */
export interface Loading extends Partial<FileArguments> {
  readonly rules?: Partial<ReadingRules>
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Loads from a folder, with arguments that default to the whole folder. */
export async function load(
  cwd: string,
  { rules, stdin = '', env = {}, ...args }: Loading = {},
): Promise<LoadedFiles> {
  const io: SourceIo = { cwd, env, stdin: streamOf(stdin) }
  return loadFiles({ files: ['.'], recursive: false, kustomize: [], ...args }, { ...RULES, ...rules }, io)
}

async function* streamOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text)
}

/** `kind namespace/name` of the objects, and where they stand. */
export function summary({ objects }: LoadedFiles): readonly string[] {
  return objects.map(({ value, origin }) => {
    const name = stringAt(value, 'metadata', 'name') ?? ''
    const namespace = stringAt(value, 'metadata', 'namespace') ?? ''
    return `${stringAt(value, 'kind')} ${namespace}/${name} ${origin?.file}:${origin?.line}#${origin?.document}`
  })
}
