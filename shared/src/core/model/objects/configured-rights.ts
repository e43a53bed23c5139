// The SPIFFE IDs to which the configurations of SPIRE among the files give a right: `admin_ids` of a server, `authorized_delegates` of an
// agent. https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_server.md, doc/spire_agent.md
import { isRecord, own, stringAt } from '../../base/json.ts'
import { readMeta } from './meta.ts'
import type { RawObject } from './raw.ts'

/** A right that a ConfigMap gives to whoever holds an ID; what a variable stands for is in angle brackets. */
export interface ConfiguredRight {
  readonly name: 'admin_ids' | 'authorized_delegates'
  readonly namespace: string
  /** Of the ConfigMap. */
  readonly configMap: string
  readonly spiffeId: string
}

/** The rights that a ConfigMap gives; of another object none. */
export function configuredRights({ value }: RawObject): readonly ConfiguredRight[] {
  const data = own(value, 'data')
  if (stringAt(value, 'kind') !== 'ConfigMap' || !isRecord(data)) return []
  return Object.values(data).flatMap((text) => (typeof text === 'string' ? rightsIn(text, value) : []))
}

function rightsIn(text: string, value: RawObject['value']): readonly ConfiguredRight[] {
  if (!LIST.test(text)) return []
  const { namespace, name: configMap } = readMeta(value)
  return [...withoutComments(text).matchAll(LISTS)].flatMap(([, name = '', list = '']) =>
    [...list.matchAll(/"([^"]+)"/g)].map(([, id = '']): ConfiguredRight => ({
      name: name === 'admin_ids' ? name : 'authorized_delegates',
      namespace,
      configMap,
      spiffeId: id.replaceAll(/\$\{?(\w+)\}?/g, '<$1>'),
    })),
  )
}

function withoutComments(text: string): string {
  return text.replaceAll(/^[^\S\n]*(?:#|\/\/).*$/gm, '')
}

/** In HCL, or in JSON. A list that does not end is left at the next one, so that a text is gone through once. */
const LIST = /\b(admin_ids|authorized_delegates)"?\s*[=:]\s*\[([^\][]*)\]/
const LISTS = new RegExp(LIST, 'g')
