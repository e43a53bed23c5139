// Commands of containers that change objects in the cluster, so that these differ from their manifests: `kubectl patch`, or
// `spire-server entry create`, which registers without SCM.
import { stringAt, type JsonRecord } from '@kleym/shared/core/base/json.ts'
import { CLUSTER_STATIC_ENTRY_KIND } from '@kleym/shared/core/model/names.ts'
import { KINDS_WITH_PODS } from '@kleym/shared/core/model/objects/workload.ts'
import { qualifiedKind } from '@kleym/shared/core/model/kinds.ts'
import type { Origin } from '@kleym/shared/core/model/objects/raw.ts'
import { commandsIn } from './commands.ts'
import { kindNamed, withoutGroup } from './kind-name.ts'
import { placeText, type InputProblem, type ProblemReach } from './problem.ts'
import { reachOf } from './reach.ts'
import type { WantedKind } from './wanted-kind.ts'

/** The problem that commands in an object change other objects, which are then not known; undefined if these do not decide. */
export function commandProblem(
  value: JsonRecord,
  origin: Origin,
  wanted: readonly WantedKind[],
): InputProblem | undefined {
  const reach = commandsIn(value).flatMap((text) => reachOfCommands(text, wanted))
  if (reach.length === 0) return undefined
  const kinds = new Set(reach.map(({ kind }) => withoutGroup(kind)))
  const [kind = '', name = ''] = [stringAt(value, 'kind'), stringAt(value, 'metadata', 'name')]
  return {
    kind: 'not rendered',
    what: `${kind} ${name} runs commands that change objects: ${[...kinds].join(', ')}`,
    where: placeText(origin),
    why: 'what they are then is not known',
    fix: 'give the objects as they are then, or leave it out: --exclude FILE',
    reach,
  }
}

/** What changes what is there: https://kubernetes.io/docs/reference/kubectl/generated/ */
const CHANGES =
  /(?:^|[\s/('"`$])(?:kubectl|oc)(?:[:@]\S{0,255})?["')]?\s[^\n;&|]{0,400}?\b(patch|edit|label|delete|replace|set\s+(?:serviceaccount|sa))\s+([^\n;&|]{0,2000})/g
/** https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_server.md#spire-server-entry-create */
const ENTRIES = /\bspire-server["')]?\s[^\n;]{0,400}?\bentry\s+(?:create|update|delete)\b/

function reachOfCommands(text: string, wanted: readonly WantedKind[]): readonly ProblemReach[] {
  const lines = text.replaceAll(/\\\r?\n/g, ' ')
  const entries = ENTRIES.test(lines) ? wanted.filter(({ kind }) => kind === CLUSTER_STATIC_ENTRY_KIND) : []
  return [
    ...entries.flatMap((one) => reachOf(one, {}, text)),
    ...lines.matchAll(CHANGES).flatMap(([, verb = '', rest = '']) => {
      const words = rest.split(/[\s"'`()]+/)
      const at = words.findIndex((word) => kindsIn(word).some((kind) => kind !== undefined))
      const [named = '', name = words[at + 1]] = words[at]?.split('/') ?? []
      const kinds = new Set(kindsIn(named))
      // That pods end, or that there are more of them, changes no identity.
      const isChange = (one: WantedKind): boolean =>
        one.versions !== undefined ||
        (verb !== 'delete' && (one.kind === 'Namespace' || KINDS_WITH_PODS.has(qualifiedKind(one))))
      return wanted
        .filter((one) => kinds.has(one.kind) && isChange(one))
        .flatMap((one) => reachOf(one, { name: isPlainName(name) ? name : undefined }, text))
    }),
  ]
}

function kindsIn(word: string): readonly (string | undefined)[] {
  const [types = ''] = word.split('/')
  return types.split(',').map((one) => kindNamed(withoutGroup(one)))
}

function isPlainName(text: string | undefined): boolean {
  return text !== undefined && /^[a-z0-9][a-z0-9.-]*$/.test(text)
}
