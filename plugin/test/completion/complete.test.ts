// What is offered for which words: the real commands and flags, over a cluster that is a list of names.
import type { ResourceRef } from '@kleym/shared/kube/api.ts'
import { describe, expect, test } from 'vitest'
import { PODS } from '@kleym/shared/kube/resources.ts'
import { COMMANDS } from '../../src/answers/all-commands.ts'
import { complete } from '../../src/completion/complete.ts'
import type { CompletionLookup } from '../../src/completion/lookup.ts'
import { printCompletion } from '../../src/completion/protocol.ts'

const NAMES: Readonly<Record<string, readonly ResourceRef[]>> = {
  inferenceidentitybindings: [
    { namespace: 'team-b', name: 'chat' },
    { namespace: 'team-a', name: 'chat' },
    { namespace: 'team-a', name: 'batch' },
  ],
  xaccesspolicies: [
    { namespace: 'team-a', name: 'tools' },
    { namespace: 'team-a', name: 'models' },
    { namespace: 'agents', name: 'tools' },
  ],
  pods: [
    { namespace: 'team-a', name: 'llama-0' },
    { namespace: 'team-b', name: 'mixtral-0' },
  ],
  deployments: [{ namespace: 'team-a', name: 'llama' }],
  namespaces: [{ name: 'team-b' }, { name: 'team-a' }, { name: 'spire' }],
}

/** The labels of the pods of team-a. */
const LABELS = ['app=llama', 'llm-d.ai/role=prefill', 'llm-d.ai/role=decode', 'llm-d.ai/model=llama']

/** A cluster with these names, whose context is in team-a. */
const lookup: CompletionLookup & { close(): void } = {
  namespace: async () => 'team-a',
  objects: async ({ resource, namespace, wanted }) =>
    (NAMES[resource.plural] ?? []).filter(
      (ref) => (namespace === undefined || ref.namespace === namespace) && wanted(ref),
    ),
  labels: async ({ resource, namespace, wanted }) =>
    resource === PODS && namespace !== 'team-b' ? LABELS.filter(wanted) : [],
  kubeconfig: async (list) => [`prod-${list}`, `dev-${list}`],
  close: () => undefined,
}

/** The words of a command line; its end is the cursor, so that a space at the end begins a new word. */
function wordsOf(line: string): readonly string[] {
  return line.split(' ')
}

async function completionOf(line: string): Promise<readonly string[]> {
  return printCompletion(await complete(wordsOf(line), () => lookup))
    .trimEnd()
    .split('\n')
}

/** The candidates without their descriptions, and the directive. */
async function textsOf(line: string): Promise<readonly string[]> {
  return (await completionOf(line)).map((text) => text.split('\t', 1)[0] ?? '')
}

describe('commands', () => {
  test('all of them, with the questions that they answer', async () => {
    const lines = await completionOf('')
    expect(lines.slice(0, -2).map((line) => line.split('\t', 1)[0])).toEqual([...COMMANDS.keys()])
    expect(lines).toContain('conflicts\tWhat clashes?')
    expect(lines.slice(-2)).toEqual(['help\tHelp of a command.', ':4'])
  })

  test.each([
    ['ex', ['explain', ':4']],
    ['nonsense', [':4']],
    ['nonsense x', [':4']],
    ['--', ['--help', '--version', ':4']],
    ['help ex', ['explain', ':4']],
    ['help explain x', [':4']],
    ['__com', [':4']],
  ])('%j', async (line, expected) => {
    expect(await textsOf(line)).toEqual(expected)
  })
})

describe('flags', () => {
  test('each has the words of its help', async () => {
    expect(await completionOf('explain --offl')).toEqual([
      '--offline\tAnswer from the files alone; no cluster and no kubeconfig is touched.',
      ':4',
    ])
  })

  test.each([
    ['explain -A --all-', [':4']],
    ['explain -A --all', ['--allow-empty', ':4']],
    ['explain -RA --rec', [':4']],
    ['explain -f a --fil', ['--filename', ':4']],
    ['explain -o json --out', ['--output-label', ':4']],
    ['explain --outp', ['--output-label', '--output', ':4']],
    ['explain -A', ['-A', ':4']],
    ['diff --ent', [':4']],
    ['who-selects --ent', ['--entries', ':4']],
    ['explain --he', ['--help', ':4']],
    ['explain -- --of', [':4']],
    ['completion --', ['--help', ':4']],
  ])('%j', async (line, expected) => {
    expect(await textsOf(line)).toEqual(expected)
  })

  test.each([...COMMANDS])(
    'every flag of %s is offered after two dashes',
    async (command, { baseFlags, flags }) => {
      const long = Object.keys({ ...baseFlags, ...flags }).filter((name) => name.length > 1)
      expect((await textsOf(`${command} --`)).toSorted()).toEqual(
        [...long.map((name) => `--${name}`), '--help', ':4'].toSorted(),
      )
    },
  )
})

describe('values of flags', () => {
  test.each([
    ['explain --fail-on ', ['error', 'warning', 'info', 'never', ':36']],
    ['explain --fail-on=w', ['warning', ':36']],
    ['explain -oya', ['-oyaml', ':36']],
    ['explain --color a', ['auto', 'always', ':36']],
    ['explain -f ', ['json', 'yaml', 'yml', ':8']],
    ['explain --offline -Rf ex', ['json', 'yaml', 'yml', ':8']],
    ['explain -k ', [':16']],
    ['explain --live ', [':16']],
    ['explain --scm-config ', [':0']],
    ['explain -l ', [':4']],
    ['explain --trust-domain ', [':4']],
    ['explain -n ', ['spire', 'team-a', 'team-b', ':4']],
    ['explain --namespace=te', ['team-a', 'team-b', ':4']],
    ['explain -nte', ['-nteam-a', '-nteam-b', ':4']],
    ['explain --offline -n ', [':4']],
    ['diff --without po', ['pod/', ':6']],
    ['diff --without iib/ch', ['iib/chat', ':4']],
    ['diff --without xaccesspolicy/to', ['xaccesspolicy/tools', ':4']],
    ['diff --without pod/team-b/', ['pod/team-b/mixtral-0', ':4']],
  ])('%j', async (line, expected) => {
    expect(await textsOf(line)).toEqual(expected)
  })

  test.each([
    ['conflicts --context ', ['dev-contexts', 'prod-contexts', ':4']],
    ['conflicts --context=p', ['prod-contexts', ':4']],
    ['conflicts --cluster d', ['dev-clusters', ':4']],
    ['conflicts --user ', ['dev-users', 'prod-users', ':4']],
    ['conflicts --kubeconfig ', [':0']],
    ['conflicts --token ', [':4']],
    ['conflicts --offline --context ', [':4']],
  ])('%j, from the kubeconfig', async (line, expected) => {
    expect(await textsOf(line)).toEqual(expected)
  })
})

describe('arguments', () => {
  test.each([
    ['explain ', ['batch', 'chat', ':4']],
    ['explain c', ['chat', ':4']],
    ['explain chat ', ['batch', ':4']],
    ['explain -n team-b ', ['chat', ':4']],
    ['explain -A ', ['team-a/batch', 'team-a/chat', 'team-b/chat', ':4']],
    ['explain -A team-a/c', ['team-a/chat', ':4']],
    ['explain team-b/', ['team-b/chat', ':4']],
    ['explain /', [':4']],
    ['explain KLM20', ['KLM201', 'KLM202', 'KLM203', ':4']],
    ['explain klm20', ['klm201', 'klm202', 'klm203', ':4']],
    ['explain KLM201 KLM20', ['KLM202', 'KLM203', ':4']],
    ['explain --offline KLM52', ['KLM520', 'KLM521', 'KLM522', ':4']],
    ['explain --offline ', [':4']],
    ['who-selects de', ['deployment/', ':6']],
    ['who-selects pod/', ['pod/llama-0', ':4']],
    ['who-selects po/ll', ['po/llama-0', ':4']],
    ['who-selects -n team-b pod/', ['pod/mixtral-0', ':4']],
    ['who-selects pod/team-b/', ['pod/team-b/mixtral-0', ':4']],
    ['who-selects -A pod/', ['pod/team-a/llama-0', 'pod/team-b/mixtral-0', ':4']],
    ['who-selects deploy/', ['deploy/llama', ':4']],
    ['who-selects deployment.apps/', ['deployment.apps/llama', ':4']],
    ['who-selects secret/', [':4']],
    ['who-selects iib/', ['iib/batch', 'iib/chat', ':4']],
    ['who-selects --offline de', ['deployment/', ':6']],
    ['who-selects --offline pod/', [':4']],
    ['who-selects pod/llama-0 ', [':4']],
    ['policies ', ['models', 'tools', ':4']],
    ['policies models ', ['tools', ':4']],
    ['policies -n agents t', ['tools', ':4']],
    ['policies -A ', ['agents/tools', 'team-a/models', 'team-a/tools', ':4']],
    ['policies agents/', ['agents/tools', ':4']],
    ['policies KLM6', [':4']],
    ['policies --offline ', [':4']],
    ['conflicts ', ['batch', 'chat', ':4']],
    ['diff ', ['batch', 'chat', ':4']],
    ['completion ', ['install', 'script', ':4']],
    ['completion install ', [':16']],
    ['completion script ', [':4']],
  ])('%j', async (line, expected) => {
    expect(await textsOf(line)).toEqual(expected)
  })

  test('a code has its title beside it', async () => {
    expect(await completionOf('explain KLM201')).toEqual(['KLM201\tselector not provably safe', ':4'])
  })
})

describe('labels that pods carry', () => {
  test.each([
    ['explain --variant-label-key ', ['app', 'llm-d.ai/model', 'llm-d.ai/role', ':4']],
    ['explain --variant-label-key=llm-d.ai/r', ['llm-d.ai/role', ':4']],
    ['explain --variant-label-key llm-d.ai/role=', [':4']],
    ['explain -n team-b --variant-label-key ', [':4']],
    ['explain --offline --variant-label-key ', [':4']],
    ['who-selects -l ', ['app=', 'llm-d.ai/model=', 'llm-d.ai/role=', ':6']],
    ['who-selects -l llm-d.ai/role=', ['llm-d.ai/role=decode', 'llm-d.ai/role=prefill', ':4']],
    ['who-selects -l app=llama,llm-d.ai/role=p', ['app=llama,llm-d.ai/role=prefill', ':4']],
    ['who-selects -l app=llama,llm', ['app=llama,llm-d.ai/model=', 'app=llama,llm-d.ai/role=', ':6']],
    ['explain -l ', [':4']],
  ])('%j', async (line, expected) => {
    expect(await textsOf(line)).toEqual(expected)
  })
})
