// `map -o html`: one file that needs nothing else. Nothing in it can reach a network: the policy forbids all of it, and lets
// run the one script whose hash it names. What came from a cluster or from files stands in it as JSON alone.
import { createHash } from 'node:crypto'
import { derivationOf } from '@kleym/shared/core/answers/index.ts'
import type { Finding } from '@kleym/shared/core/findings/index.ts'
import { escapeJsonText } from '../../io/escape.ts'
import type { PageParts } from '../../frame/frame.ts'
import { worldText } from '../../frame/world.ts'
import type { MapSide } from './build.ts'
import type { FindingMarks } from './marks.ts'
import type { PageAssets } from './assets/bundle.ts'
import type { PageExplanation } from './page-data.ts'

/** Bindings beyond this many are shown without their derivation: the page names the command that has it. */
export const EXPLAINED_MAX = 1000

/** The page. */
export async function mapPage(parts: PageParts, side: MapSide, marks: FindingMarks): Promise<string> {
  const { pageAssets } = await import('./page-assets.ts')
  const { report, unknowns, echo, contextName, made } = parts
  const data = {
    report,
    findingNodes: findingsOf(report).map((one) => marks.of(one)),
    explanations: explanationsOf(side),
    unknowns,
    world: worldText(side.input) ?? '',
    echo,
    source: contextName === undefined ? `files${echo}` : `context ${contextName}`,
    made: `${made.toISOString().slice(0, 16).replace('T', ' ')} UTC`,
  }
  return pageText(await pageAssets(), data)
}

/** What the report lists: those about suppressions among them. */
function findingsOf(report: PageParts['report']): readonly Pick<Finding, 'subject' | 'related'>[] {
  const { findings } = report
  return Array.isArray(findings) ? findings : []
}

function explanationsOf({ input: { after } }: MapSide): Readonly<Record<string, PageExplanation>> {
  return Object.fromEntries(
    [...after.snapshot.bindings.read].slice(0, EXPLAINED_MAX).flatMap((binding) => {
      const one = derivationOf(after, binding)
      if (one === undefined) return []
      const { steps, selectors, peers, afterwards, output } = one
      const due =
        output === undefined || output.state === 'up to date'
          ? null
          : `its ClusterSPIFFEID is ${output.state}`
      const explanation: PageExplanation = {
        steps,
        selectors,
        peers: peers.map((peer) => ({ binding: peer.binding, proof: peer.proof })),
        afterwards: afterwards === undefined ? null : `${afterwards.reason}: ${afterwards.message}`,
        due,
      }
      return [[binding.key, explanation] as const]
    }),
  )
}

/** The file: a policy, the styles, the parts that the script fills, the data, the script. */
export function pageText({ script, style, body }: PageAssets, data: unknown): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>Who holds what: kubectl kleym map</title>
<style>${style}</style>
</head>
<body>
${body.trim()}
<script type="application/json" id="data">${dataText(data)}</script>
<script>${script}</script>
</body>
</html>
`
}

/** As the policy names it: https://www.w3.org/TR/CSP3/#grammardef-hash-source */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

/** JSON that ends no script element and begins no comment in it, whatever its strings hold. */
function dataText(data: unknown): string {
  return escapeJsonText(JSON.stringify(data)).replaceAll(
    /[<>&]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
