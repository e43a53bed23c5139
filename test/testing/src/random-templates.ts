// Random templates from a grammar, for the comparison with the oracle: mostly well-formed, over the real field names,
// with every built-in, and now and then a broken token. The same seed gives the same templates.
import { readFileSync } from 'node:fs'

const FIELDS =
  '.TrustDomain .ClusterName .ClusterDomain .PodMeta.Name .PodMeta.Namespace .PodMeta.UID .PodMeta.Labels .PodMeta.Annotations .PodMeta.Labels.app .PodMeta.Labels.nope .PodMeta.Labels.nope.deep .PodMeta.Labels.app.deep .PodMeta.OwnerReferences .PodMeta.Finalizers .PodMeta.Generation .PodMeta.GetName .PodMeta.GetLabels .PodMeta.GetOwnerReferences .PodMeta.DeletionTimestamp .PodMeta.DeletionGracePeriodSeconds .PodMeta.GetDeletionTimestamp .PodMeta.SetName .PodMeta.Nope .Nope .PodSpec.ServiceAccountName .PodSpec.NodeName .PodSpec.HostNetwork .PodSpec.HostPID .PodSpec.Priority .PodSpec.RuntimeClassName .PodSpec.TerminationGracePeriodSeconds .PodSpec.AutomountServiceAccountToken .PodSpec.RestartPolicy .PodSpec.NodeSelector .PodSpec.NodeSelector.gpu .PodSpec.Containers .PodSpec.InitContainers .PodSpec.Volumes .PodSpec.Tolerations .PodSpec.SecurityContext .PodSpec.SecurityContext.RunAsUser .PodSpec.SecurityContext.SupplementalGroups .PodSpec.Affinity .PodSpec.Affinity.NodeAffinity .NodeMeta.Name .NodeMeta.UID .NodeMeta.Labels .NodeSpec.PodCIDR .NodeSpec.PodCIDRs .NodeSpec.Taints .NodeSpec.Unschedulable .NodeSpec.ProviderID .PodMeta .PodSpec .NodeMeta .Name .Image .Ports .Kind .Controller .Key .Value .ContainerPort . $ $.TrustDomain $.PodMeta.Name $x $y $x.Name $i'.split(
    ' ',
  )
const STRINGS = [
  '""',
  '"a"',
  '"app"',
  '"nope"',
  '"team-a"',
  '"gpu"',
  '"é"',
  '"a b"',
  '"<&>\'"',
  '"\\x00\\xff"',
  '"\\u00e9\\n\\t"',
  '`raw`',
  '"%s"',
  '"%d"',
  '"%v-%v"',
  '"%q"',
  '"x=y/z?"',
  '"10"',
]
const NUMBERS = [
  '0',
  '1',
  '2',
  '3',
  '-1',
  '-0',
  '+5',
  '10',
  '255',
  '0x1F',
  '0b11',
  '0o17',
  '017',
  '08',
  '1_000',
  '1__0',
  '1.5',
  '2.50',
  '.5',
  '1.',
  '1e3',
  '1e-7',
  '1e21',
  '123456789.0',
  '-2.5',
  '0.000001',
  "'a'",
  "'\\n'",
  "'é'",
  '-0x1e',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '1e400',
  '0x',
  '1_0.5',
  '0.1',
  '100000.0',
  '1000000.0',
  '3.14159',
  '-0.0',
]
const FLAGS = ['', '', '', '-', '0', '+', ' ', '#', '+#', '-0', '+0']
const WIDTHS = [
  '',
  '',
  '',
  '5',
  '12',
  '*',
  '.2',
  '.0',
  '8.3',
  '.*',
  '3.',
  '[1]',
  '[2]',
  '[9]',
  '[x]',
  '[2]*[1]',
]
const VERBS = [...'sssvvvdddqxXtcUobeEfgGTpzw%O'.split(''), '!', '☃', '']
const FUNCTIONS =
  'and or not eq ne lt le gt ge len index slice print println html js urlquery call printf'.split(' ')
const BROKEN = [
  '}}',
  '{{',
  '(',
  ')',
  '|',
  '.',
  '"',
  '`',
  "'",
  ':=',
  '=',
  ',',
  '$',
  'nil',
  'end',
  '-',
  '}',
  '/*',
  '@',
  '\u00e9',
  '$é',
  'nope',
  '.A.',
  '1x',
  '..',
]

/** A generator of templates with a seed. */
export class RandomTemplates {
  #state: number
  #depth = 0

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  next(): string {
    this.#depth = 0
    if (this.#chance(0.25)) return this.#action(this.#printf(0, () => this.#constant()))
    if (this.#chance(0.4)) return this.#action(this.#pipe())
    let text = this.#list(1 + this.#below(3))
    if (this.#chance(0.06))
      text = `{{define "t"}}${this.#list(2)}{{end}}${text}{{template "t" ${this.#operand()}}}`
    if (this.#chance(0.05)) {
      const at = this.#below(text.length + 1)
      text = text.slice(0, at) + this.#pick(BROKEN) + text.slice(at + this.#below(2))
    }
    return text
  }

  /** Mulberry32. */
  #random(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  #chance(probability: number): boolean {
    return this.#random() < probability
  }

  #pick<T>(list: readonly [T, ...T[]] | readonly T[]): T {
    const picked = list[this.#below(list.length)]
    if (picked === undefined) throw new Error('an empty list')
    return picked
  }

  #list(count: number): string {
    let out = ''
    for (let at = 0; at < count; at++) out += this.#item()
    return out
  }

  #item(): string {
    if (++this.#depth > 12) return 'x'
    switch (this.#below(12)) {
      case 0:
        return this.#pick(['text', ' ', '\n\t', 'é', '/', ':', '}}', '{', ''])
      case 1:
        return this.#branch('if')
      case 2:
        return this.#branch('with')
      case 3:
        return this.#branch('range')
      case 4:
        return `{{$x := ${this.#pipe()}}}{{$x}}`
      case 5:
        return this.#pick([
          '{{/* c */}}',
          ' {{- /* c */ -}} ',
          '{{$x = 1}}',
          '{{$y := nil}}',
          '{{template "u"}}',
          '{{block "b" .}}B{{.}}{{end}}',
        ])
      default:
        return this.#action(this.#pipe())
    }
  }

  #action(content: string): string {
    return `${this.#pick(['{{', '{{ ', '{{- '])}${content}${this.#pick(['}}', ' }}', ' -}}'])}`
  }

  #branch(kind: 'if' | 'with' | 'range'): string {
    const declares = this.#chance(0.3)
    const variables = kind === 'range' && this.#chance(0.5) ? '$i, $x' : '$x'
    const assign = declares ? `${variables} ${this.#pick([':=', ':=', ':=', '='])} ` : ''
    const jump =
      kind === 'range' && this.#chance(0.2)
        ? this.#pick(['{{break}}', '{{continue}}', '{{if $x}}{{break}}{{end}}'])
        : ''
    let out = this.#action(`${kind} ${assign}${this.#pipe()}`) + this.#list(1 + this.#below(2)) + jump
    if (kind !== 'range' && this.#chance(0.15))
      out += this.#action(`else ${kind} ${this.#pipe()}`) + this.#list(1)
    if (this.#chance(0.35)) out += this.#action('else') + this.#list(1)
    return `${out}${this.#action('end')}`
  }

  #pipe(): string {
    let out = this.#command()
    while (this.#chance(0.25)) out += ` | ${this.#function(1)}`
    return out
  }

  #command(): string {
    return this.#chance(0.45) ? this.#operand() : this.#function(0)
  }

  #function(piped: number): string {
    const name = this.#pick(FUNCTIONS)
    if (name === 'printf') return this.#printf(piped)
    const usual: Readonly<Record<string, number>> = {
      not: 1,
      len: 1,
      ne: 2,
      lt: 2,
      le: 2,
      gt: 2,
      ge: 2,
      eq: 2,
      index: 2,
      slice: 2,
    }
    const count = Math.max(0, (usual[name] ?? 1 + this.#below(3)) - piped + (this.#chance(0.1) ? 1 : 0))
    return [name, ...Array.from({ length: count }, () => this.#operand())].join(' ')
  }

  #printf(piped: number, operand = () => this.#operand()): string {
    const count = 1 + this.#below(3)
    let format = ''
    for (let at = 0; at < count; at++)
      format += `${this.#pick(['', ' ', 'a', '|'])}%${this.#pick(FLAGS)}${this.#pick(WIDTHS)}${this.#pick(VERBS)}`
    const args = Array.from({ length: Math.max(0, count - piped + this.#below(3) - 1) }, operand)
    return ['printf', JSON.stringify(format), ...args].join(' ')
  }

  #constant(): string {
    const kind = this.#below(5)
    if (kind < 2) return this.#pick(STRINGS)
    return kind < 4
      ? this.#pick(NUMBERS)
      : this.#pick(['true', 'nil', '$.PodMeta.UID', '$.PodMeta.Labels', '$.PodMeta.Finalizers'])
  }

  #operand(): string {
    if (this.#depth++ > 25) return '1'
    const kind = this.#below(20)
    if (kind < 9) return this.#pick(FIELDS)
    if (kind < 12) return this.#pick(STRINGS)
    if (kind < 15) return this.#pick(NUMBERS)
    if (kind === 15) return this.#pick(['true', 'false', 'nil'])
    const inner = `(${this.#pipe()})`
    return this.#chance(0.3) ? `${inner}${this.#pick(['.Name', '.app', '.UID', '.Nope'])}` : inner
  }
}

if (import.meta.main) {
  const [seed = '1', count = '1000', corpusFile = ''] = process.argv.slice(2)
  const { data }: { readonly data: Readonly<Record<string, unknown>> } = JSON.parse(
    readFileSync(corpusFile, 'utf8'),
  )
  const names = Object.keys(data)
  const random = new RandomTemplates(Number(seed))
  const cases = Array.from({ length: Number(count) }, (_, at) => ({
    data: names[at % names.length],
    // Variables that the grammar uses are declared more often than not.
    template: `${at % 4 === 0 ? '' : '{{$x := .PodMeta}}{{$y := 1.5}}{{$i := 0}}'}${random.next()}`,
  }))
  process.stdout.write(JSON.stringify({ data, cases }))
}
