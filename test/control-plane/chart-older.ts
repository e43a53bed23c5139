// A chart one version lower than the one that ships: what an upgrade begins with. Its CRD lacks a printer column
// and writes a mode into each binding that has none, a template
// of today is not there yet, and one that was dropped since still is.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CHART } from './helm.ts'

export const OLDER_VERSION = '0.0.9'
export const NEW_COLUMN = 'SPIFFE-ID'
/** The ConfigMap that today's chart has no more. */
export const DROPPED = 'kleym-dropped'

/** Writes it under a folder; its path. */
export function writeOlderChart(folder: string): string {
  const chart = join(folder, 'kleym-older')
  cpSync(CHART, chart, { recursive: true })
  edit(join(chart, 'Chart.yaml'), /^(version|appVersion): .*$/gm, `$1: ${OLDER_VERSION}`)
  edit(
    join(chart, 'files/kleym.sonda.red_inferenceidentitybindings.yaml'),
    new RegExp(`^ +- name: ${NEW_COLUMN}\\n.*\\n.*\\n`, 'm'),
    '',
  )
  edit(
    join(chart, 'files/kleym.sonda.red_inferenceidentitybindings.yaml'),
    /^( +)(- PerObjective\n)(?= +containerName:)/m,
    '$1$2                  default: PerObjective\n',
  )
  rmSync(join(chart, 'templates/uninstall-guard.yaml'))
  const dropped = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${DROPPED}\n  namespace: {{ .Release.Namespace }}\n`
  writeFileSync(join(chart, 'templates/dropped.yaml'), dropped)
  return chart
}

/** Throws where there is nothing to change: then the fixture is older than the chart. */
function edit(file: string, what: RegExp, by: string): void {
  const before = readFileSync(file, 'utf8')
  const after = before.replace(what, by)
  if (after === before) throw new Error(`${file} holds nothing like ${String(what)}`)
  writeFileSync(file, after)
}
