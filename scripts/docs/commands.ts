// Every command that a page tells its reader to type, and what runs it: a suite, or nothing, with the reason.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagePaths } from './pages.ts'

/** A command of a block of shell commands. */
export interface DocumentedCommand {
  /** The path of the page from the root of the repository. */
  readonly page: string
  /** As it stands there, without the comment and the prompt. */
  readonly command: string
}

/** What runs commands of pages, with the test that takes them from there. */
export const RUNNERS = {
  files: {
    test: 'plugin/test/program/documented-commands.test.ts',
    how: 'in this process, on the examples, up to a pipe or a redirection',
  },
  cluster: {
    test: 'test/control-plane/documented-commands.test.ts',
    how: 'by a shell with the real kubectl and the plugin, on a real API server with the estate of the examples and the operator',
  },
  chart: {
    test: 'test/control-plane/chart-lifecycle.test.ts',
    how: 'by a shell with the real Helm and the real kubectl, on a real API server',
  },
  quickStart: {
    test: 'test/svid/quick-start.test.ts',
    how: 'in the order of the page, on a real API server with the real SPIRE server and SCM',
  },
  plugin: {
    test: 'test/control-plane/install-plugin.test.ts',
    how: 'by a shell with the real krew and npm, on the files of the release',
  },
  settings: {
    test: 'plugin/test/settings/settings-page.test.ts',
    how: 'in this process, in the order of the page, from a folder that is empty but for manifests',
  },
  watch: {
    test: 'test/control-plane/plugin-watch.test.ts',
    how: 'by the suite about `watch`, which starts the same command and ends it',
  },
  watchFiles: {
    test: 'plugin/test/answers/watch/files/follow.test.ts',
    how: 'by the suite about `watch --offline`, which starts the same command on files that it changes',
  },
  mcp: {
    test: 'test/e2e/mcp.test.ts',
    how: 'by the suite about `mcp`: each command line starts, and ends with stdin',
  },
  tryIt: {
    test: 'test/svid/agent/try-it.test.ts',
    how: 'by a shell on what `npm run control-plane -- --spire` starts: an API server, the real SPIRE server, SCM and agents, and the operator',
  },
  gate: { test: 'scripts/gate/parts.ts', how: 'as a part of `npm run gate`, or as what that is' },
} as const
export type RunnerName = keyof typeof RUNNERS

/** The commands that a suite runs, by page. */
interface Share {
  readonly by: RunnerName
  readonly pages: RegExp
  readonly commands: RegExp
}

/** The first that fits counts; what `NOT_RUN` holds is not looked up here. */
const SHARES: readonly Share[] = [
  { by: 'tryIt', pages: /^docs\/try-it\.md$/, commands: /./ },
  { by: 'tryIt', pages: /./, commands: /^npm run control-plane -- --spire$/ },
  {
    by: 'tryIt',
    pages: /^docs\/(?:quick-start|no-svid|verify|reference\/commands)\.md$/,
    commands: /^kubectl (?:exec|logs) /,
  },
  {
    by: 'gate',
    pages: /./,
    commands: /^npm (?:test|run (?:gate|demo|build|release -- --dry-run|bench -- --quick))$/,
  },
  { by: 'quickStart', pages: /^docs\/(?:quick-start|variants)\.md$|^README\.md$/, commands: /^helm / },
  { by: 'quickStart', pages: /^docs\/quick-start\.md$/, commands: /./ },
  { by: 'plugin', pages: /^docs\/install-plugin\.md$/, commands: /./ },
  { by: 'plugin', pages: /./, commands: /^kubectl kleym completion install/ },
  { by: 'chart', pages: /^docs\/(?:install|upgrade|uninstall)\.md$/, commands: /./ },
  { by: 'settings', pages: /^docs\/settings\.md$/, commands: /^kubectl kleym .*--context / },
  { by: 'watchFiles', pages: /./, commands: /^kubectl kleym watch --offline\b/ },
  { by: 'watch', pages: /./, commands: /^kubectl kleym watch\b/ },
  { by: 'mcp', pages: /./, commands: /^kubectl kleym mcp\b/ },
  {
    by: 'files',
    pages: /./,
    commands:
      /^(?:dist\/)?kubectl[ -]kleym (?:(?!.* -k ).*--offline\b|explain (?:KLM\d|[A-Z][a-z])|completion(?: script)?$)/,
  },
  { by: 'cluster', pages: /./, commands: /^(?:kubectl|dist\/kleym-operator)\b/ },
]

/** Commands that no test runs. */
interface Exception {
  readonly pages: RegExp
  readonly commands: RegExp
  readonly why: string
}

/** Each fits a command of a page; a test finds those that do not. */
export const NOT_RUN: readonly Exception[] = [
  {
    pages: /^docs\/reference\/commands\.md$/,
    commands: /^kubectl kleym settings --write --context /,
    why: 'names a context of the reader; plugin/test/settings/settings-page.test.ts runs it',
  },
  {
    pages: /^docs\/settings\.md$/,
    commands: /^git worktree /,
    why: 'needs a repository with a remote; plugin/test/settings/settings-page.test.ts adds a worktree of one that it makes',
  },
  {
    pages: /^docs\/(?:scale|reference\/commands)\.md$/,
    commands: /^kubectl kleym conflicts (?:--context|--cluster-dir) /,
    why: 'names clusters of the reader; test/control-plane/several-clusters.test.ts compares two API servers, plugin/test/answers/conflicts/clusters.test.ts folders',
  },
  {
    pages: /^docs\/quick-start\.md$/,
    commands: /^(?:kind|docker) /,
    why: 'needs a container engine; the test has a control plane and the built operator in their place',
  },
  {
    pages: /^docs\/quick-start\.md$/,
    commands: /^helm upgrade --install spire/,
    why: "needs the network; the test starts the real server and SCM as the chart sets them, with the chart's fallback",
  },
  {
    pages: /^docs\/quick-start\.md$/,
    commands: /^kubectl apply -f https:/,
    why: 'needs the network; the test has the kinds from the Go module',
  },
  {
    pages: /^docs\/names\.md$/,
    commands: / --names /,
    why: 'names files that are exported from a cloud; plugin/test/answers/policies/names.test.ts has such files',
  },
  {
    pages: /^docs\/verify\.md$/,
    commands: /^spire-server |^diff <| --svids /,
    why: "needs the reader's SPIRE server or agent, or jq; the suites of test/svid hold the same against a real server",
  },
  { pages: /^docs\/runbooks\//, commands: / (?:logs|top) /, why: 'needs a kubelet' },
  {
    pages: /^docs\/gitops\.md$/,
    commands: /^kubectl --namespace argocd /,
    why: "needs Argo CD; gitops-health.test.ts runs Argo CD's Lua machine on that file",
  },
  {
    pages: /^docs\/gitops\.md$/,
    commands: /^kubectl wait iib /,
    why: 'waits for every binding; the estate has bindings that are refused on purpose. The quick start waits',
  },
  {
    pages: /^docs\/(?:ci|reference\/commands)\.md$/,
    commands: /^helm template |^kubectl kustomize overlays|--render|\| jq /,
    why: 'names charts and folders of the reader, or a program that is not here',
  },
  {
    pages: /^docs\/completion\.md$/,
    commands: /^BASH_COMP_DEBUG_FILE=/,
    why: 'is for a look at what a shell gets; plugin-completion.test.ts runs the completion itself',
  },
  {
    pages: /^docs\/(?:performance|scale)\.md$/,
    commands: /^npm run bench(?!.* -- --quick$)|^npm run bench:\S+ -- --quick$|^node bench|^kubectl-kleym/,
    why: 'takes minutes to hours; `npm run gate` runs `npm run bench -- --quick`',
  },
  {
    pages: /./,
    commands: /^npm run (?:gate -- |campaign)/,
    why: 'is a part of the gate, or takes an hour; test/release/workflows.test.ts holds that each part is run',
  },
  {
    pages: /^docs\/contributing\/spire\.md$/,
    commands: /^npm run test:svid/,
    why: '`npm run gate` runs the same suites',
  },
  {
    pages: /^docs\/compatibility\.md$/,
    commands: /^npm run test:versions/,
    why: 'takes ten minutes for each minor or release; a workflow runs it every week',
  },
  {
    pages: /^README\.md$/,
    commands: /^npm run control-plane$/,
    why: 'runs until Ctrl-C; the suites start the same control plane',
  },
  {
    pages: /^charts\/kleym\/README\.md$/,
    commands: /^helm install /,
    why: 'the quick start runs it from the root of the project',
  },
  {
    pages: /^docs\/operator\.md$/,
    commands: /^kleym-operator /,
    why: 'runs until it is stopped, or in a pod; the suites start the same executable, also with --check and --help',
  },
  {
    pages: /^docs\/monitoring\.md$/,
    commands: /^helm upgrade /,
    why: 'chart-alerts.test.ts renders the chart with these values',
  },
]

/** How a command is run. */
export type HowRun = { readonly by: RunnerName } | { readonly why: string } | 'unaccounted'

/** The commands of all pages, in the order of the pages. */
export function documentedCommands(root: string): readonly DocumentedCommand[] {
  return pagePaths(root).flatMap((page) => commandsOf(page, readFileSync(join(root, page), 'utf8')))
}

/** The commands in the shell blocks of a text. A `console` block marks its commands by `$`; the rest of it is output. */
export function commandsOf(page: string, text: string): readonly DocumentedCommand[] {
  const blocks = [...text.matchAll(/^( *)```(sh|console)\n([\s\S]*?)^\1```$/gm)]
  return blocks.flatMap(([, , language = '', block = '']) =>
    // A command goes on after a backslash, and with a pipe at the start of the next line.
    block
      .replaceAll(/ *\\?\n *(?=\|)| *\\\n */g, ' ')
      .split('\n')
      .flatMap((line) => {
        const typed = language === 'sh' ? line.trim() : (/^ *\$ (.*)$/.exec(line)?.[1] ?? '')
        const command = typed.replace(/(?:^|\s+)# .*$/, '').trim()
        return command === '' ? [] : [{ page, command }]
      }),
  )
}

/** What runs a command. */
export function howRun({ page, command }: DocumentedCommand): HowRun {
  const exception = NOT_RUN.find(({ pages, commands }) => pages.test(page) && commands.test(command))
  if (exception !== undefined) return { why: exception.why }
  const share = SHARES.find(({ pages, commands }) => pages.test(page) && commands.test(command))
  return share === undefined ? 'unaccounted' : { by: share.by }
}

/** The commands that a suite has to run. */
export function commandsRunBy(root: string, runner: RunnerName): readonly DocumentedCommand[] {
  return documentedCommands(root).filter((one) => {
    const how = howRun(one)
    return how !== 'unaccounted' && 'by' in how && how.by === runner
  })
}
