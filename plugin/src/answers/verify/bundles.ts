// The bundles of a server (`spire-server bundle list -output json`): they settle verdicts that depend on federation, which no
// object of a cluster shows.
import { withSettings } from '@kleym/shared/core/analysis/index.ts'
import { readServerBundle } from '@kleym/shared/core/predict/index.ts'
import type { CommandContext } from '../../io/context.ts'
import { KleymError } from '../../io/errors.ts'
import type { AnswerInput } from '../../gather/gather.ts'
import { JsonElements } from '../../sources/json-elements.ts'
import { feedFile } from '../parts/read-entries.ts'

/** More trust domains than any server federates with. */
const BUNDLES_MAX = 100_000

/** The trust domains of a file of bundles. Throws a KleymError for a file that is none. */
export async function readBundles(file: string, context: CommandContext): Promise<ReadonlySet<string>> {
  const domains = new Set<string>()
  const wrong = (why: string, at: number): KleymError =>
    new KleymError('input', {
      what: 'these are no bundles of a SPIRE server',
      where: `--bundles ${file}, byte ${at + 1}`,
      why,
      fix: 'make the file again: spire-server bundle list -output json > bundles.json',
      docs: 'docs/verify.md',
    })
  const elements = new JsonElements('bundles', (value) => {
    const reading = readServerBundle(value)
    if (!reading.ok) throw wrong(`bundle ${domains.size + 1}: ${reading.why}`, elements.at)
    const { trustDomain: domain } = reading
    if (domains.has(domain)) throw wrong(`trust domain ${domain} is there twice`, elements.at)
    domains.add(domain)
    if (domains.size > BUNDLES_MAX) throw wrong(`it holds more than ${BUNDLES_MAX} bundles`, elements.at)
  })
  await feedFile(file, elements, context, { progress: () => `${domains.size} bundles`, wrong })
  return domains
}

/** The same objects on a server that holds these bundles. */
export function withServerBundles(input: AnswerInput, serverBundles: ReadonlySet<string>): AnswerInput {
  const after = withBundles(input.after, serverBundles)
  return {
    ...input,
    after,
    before: input.before === input.after ? after : withBundles(input.before, serverBundles),
  }
}

function withBundles(
  analysis: AnswerInput['after'],
  serverBundles: ReadonlySet<string>,
): AnswerInput['after'] {
  const { config, openSettings } = analysis
  return withSettings(analysis, {
    config,
    openSettings,
    settings: { ...analysis.settings, serverBundles },
  })
}
