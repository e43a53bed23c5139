// `kubectl kleym policies`: flags and words; the answer is in run.ts.
import { SourceCommand } from '../../flags/command.ts'
import type { CommandResult } from '../../io/context.ts'
import { allNamespacesFlag, configMapsFlag, namesFlag } from '../../flags/flags.ts'
import { commonOptions } from '../../flags/options.ts'
import { words } from '../../flags/repeatable.ts'

/** The command line of `policies`. */
export class PoliciesCommand extends SourceCommand {
  static override readonly summary = 'Whom do access policies name?'
  static override readonly description =
    'Lists whom each name in an access policy means: rules of XAccessPolicies (Kube Agentic Networking), ' +
    'names in objects of Istio, Linkerd, the Gateway API and agentgateway, and SPIFFE IDs in any other string' +
    ' that is read. A name means the containers that hold the ID, an ID that nothing renders (with similar ' +
    'IDs), an ID of another trust domain, a service account, or any principal. Also lists what does not take ' +
    'effect as it is written. Whether a request passes is decided elsewhere, and not said here.'
  static override readonly usage = 'policies [POLICY...] [flags]'
  static override readonly examples = [
    '<%= config.bin %> policies -A',
    '<%= config.bin %> policies --offline -R -f manifests --fail-on warning',
  ]
  static override readonly args = {
    policy: words('Policies by NAME or NAMESPACE/NAME.'),
  }
  static override readonly flags = {
    'all-namespaces': allNamespacesFlag,
    names: namesFlag,
    configmaps: configMapsFlag,
  }

  async run(): Promise<CommandResult> {
    const { flags, args } = await this.parse(PoliciesCommand)
    return this.answer(() => import('./run.ts'), {
      ...commonOptions(flags, 'policies', this.context.cwd),
      policies: args.policy ?? [],
    })
  }
}
