// Braces in a ClusterSPIFFEID among the files: those of SCM are followed, and those that another tool must still fill in leave it
// open what the registration gives, and to whom. With the executable that ships.
import { beforeAll, describe, expect, test } from 'vitest'
import { ask } from './ask.ts'
import { built } from './plugin.ts'
import { documents, POD, SMALL } from './workspace.ts'

beforeAll(built)

const THIEF_POD = POD.replace('llama-0', 'thief')
  .replace('namespace: team-a', 'namespace: team-b')
  .replace('app: llama', 'app: thief')
  .replace('3d0ff7fd', '4d0ff7fd')

function world(template: string, app = 'thief'): string {
  const thief = `apiVersion: spire.spiffe.io/v1alpha1
kind: ClusterSPIFFEID
metadata: {name: thief}
spec:
  spiffeIDTemplate: '${template}'
  podSelector: {matchLabels: {app: '${app}'}}
`
  return documents(SMALL, THIEF_POD, thief)
}

describe('a template of SCM that looks like one of Helm is followed to the theft that it is', () => {
  test.each([
    ['with a variable', '{{ $id := "chat" }}spiffe://example.org/ns/team-a/objective/{{ $id }}'],
    ['on the root variable', 'spiffe://{{ $.TrustDomain }}/ns/team-a/objective/chat'],
    [
      'with a definition',
      '{{ define "id" }}chat{{ end }}spiffe://example.org/ns/team-a/objective/{{ template "id" }}',
    ],
  ])('%s', async (_, template) => {
    const run = await ask(world(template), 'conflicts')
    expect([run.code, run.stderr]).toEqual([1, expect.not.stringContaining('is a template')])
    expect(run.stdout).toContain('KLM308')
  })
})

describe('a template of another tool is no registration that gives nothing', () => {
  test.each([
    [
      'where a function has a value of Helm',
      'spiffe://{{ printf "%s" .Values.domain }}/ns/team-a/objective/chat',
    ],
    ['where Helm decides', 'spiffe://{{ if .Values.domain }}x{{ end }}/ns/team-a/objective/chat'],
    ['where Helm escapes', 'spiffe://example.org/ns/{{ "{{ .PodMeta.Namespace }}" }}/objective/chat'],
    ['of Jinja', 'spiffe://{{ trust_domain }}/ns/team-a/objective/chat'],
    ['that selects', 'spiffe://example.org/ns/team-a/objective/chat', '{{ printf "%s" .PodMeta.Name }}'],
  ])('%s', async (_, template, app?: string) => {
    for (const command of ['conflicts', 'who-selects pod/team-b/thief']) {
      const run = await ask(world(template, app), ...command.split(' '))
      expect([command, run.code]).toEqual([command, 4])
      expect(run.stdout).not.toMatch(/holds no identity|nothing clashes|KLM408/)
      expect(run.stderr).toContain('ClusterSPIFFEID is a template')
    }
  })
})
