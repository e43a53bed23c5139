// The argument of `who-selects`: one object that has pods, as `pod/llama-0` or `deployment/team-a/llama`.
import { KleymError } from '../../io/errors.ts'
import { kindNamed, parseObjectName, type ObjectName } from '../../sources/kind-name.ts'

/** Parses the argument; undefined where none is given. Throws a usage error for anything that is no object with pods. */
export function parseTarget(text: string | undefined): ObjectName | undefined {
  if (text === undefined) return undefined
  if (!text.includes('/')) {
    const kind = kindNamed(text)
    throw new KleymError({
      code: 'usage',
      what: 'cannot tell which object is meant',
      where: text,
      why: kind === undefined ? 'it is not KIND/NAME' : `it names the kind ${kind}, and no object of it`,
      fix: kind === undefined ? `write pod/${text}, or deployment/${text}` : `write ${text}/NAME`,
      docs: 'kubectl kleym who-selects --help',
    })
  }
  const target = parseObjectName(text, 'the argument')
  if (POD_KINDS.includes(target.kind)) return target
  throw new KleymError({
    code: 'usage',
    what: `a ${target.kind} runs no containers`,
    where: text,
    why: 'who-selects tells which identities containers get',
    fix: `name one of ${POD_KINDS.join(', ')}`,
    docs: 'kubectl kleym who-selects --help',
  })
}

/** The kinds that have pods, or a template of them. */
export const POD_KINDS: readonly string[] = [
  'Pod',
  'Deployment',
  'StatefulSet',
  'DaemonSet',
  'ReplicaSet',
  'Job',
  'CronJob',
  'LeaderWorkerSet',
]
