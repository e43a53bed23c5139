// The faults that `why` is held against, chosen from SPIRE's documentation and its users' threads before the command was written: at
// least two for each hop. Each says which hop is the first broken one, and what its first line must say and advise. The pure suite and
// the one on real parts bring them about each in its own way.

/** The hops of an identity, in their order. */
export type FaultyHop =
  | 'wanted'
  | 'installed'
  | 'rendered'
  | 'on the server'
  | 'on the agent'
  | 'attested'
  | 'reachable'
  | 'used'

/** A fault that is injected. */
export interface WhyFault {
  /** `pod label`: what suites call it. */
  readonly name: string
  readonly hop: FaultyHop
  /** What is wrong, as a user would say it afterwards. */
  readonly what: string
  /** Where users met it, or where the documentation tells of it. */
  readonly sources: readonly string[]
  /** What the first line says of it. */
  readonly says: RegExp
  /** What the first line advises; of a fault that no object shows, the command that settles it. */
  readonly fix: RegExp
  /** No object and no file that was given shows it: the hop is not known. At most three are so. */
  readonly isNotKnown?: true
}

const ISSUE = 'https://github.com/spiffe/spire/issues'
const SCM = 'https://github.com/spiffe/spire-controller-manager'
const CHART = 'https://github.com/spiffe/helm-charts-hardened'
const TUTORIALS = 'https://github.com/spiffe/spire-tutorials/issues'
const CSID_DOC = `${SCM}/blob/v0.7.0/docs/clusterspiffeid-crd.md`
const K8S_DOC = 'https://github.com/spiffe/spire/blob/v1.15.3/doc/plugin_agent_workloadattestor_k8s.md'

/** All of them, by hop. */
export const WHY_FAULTS: readonly WhyFault[] = [
  {
    name: 'pod label',
    hop: 'wanted',
    what: 'the registration selects by a label that the pod lacks',
    sources: [`${CHART}/pull/656`, `${CHART}/issues/372`],
    says: /no registration selects the pod; nearest: ClusterSPIFFEID\/why-\S+, whose podSelector asks for app=llama/,
    fix: /fix: give the pod the label app=llama/,
  },
  {
    name: 'namespace label',
    hop: 'wanted',
    what: 'the registration selects namespaces by a label that the namespace lacks',
    sources: ['https://github.com/hpe-dev-incubator/hpe-dev-portal/pull/1876', CSID_DOC],
    says: /no registration selects the pod; nearest: ClusterSPIFFEID\/why-\S+, whose namespaceSelector asks for tenant=yes/,
    fix: /fix: give the namespace the label tenant=yes/,
  },
  {
    name: 'service account',
    hop: 'wanted',
    what: 'the selectors name another service account than that of the pod',
    sources: [`${ISSUE}/1108`, `${ISSUE}/2351`],
    says: /k8s:sa:other does not match: the pod's service account is runner/,
    fix: /fix: change .*workloadSelectorTemplates\[0\].* or .*serviceAccountName/,
  },
  {
    name: 'container name',
    hop: 'wanted',
    what: 'the selectors name another container of the pod',
    sources: [K8S_DOC, 'https://github.com/vmware/secrets-manager/issues/190'],
    says: /k8s:container-name:proxy does not match: this container is app/,
    fix: /fix: change .*workloadSelectorTemplates\[0\]/,
  },
  {
    name: 'class',
    hop: 'installed',
    what: 'the object has no className, or that of another SCM',
    sources: [`${SCM}/issues/441`, 'https://github.com/agntcy/dir/pull/774'],
    says: /SCM ignores it: ClusterSPIFFEID\/why-\S+ has no \.spec\.className/,
    fix: /fix: set \.spec\.className/,
  },
  {
    name: 'ignored namespace',
    hop: 'installed',
    what: 'a pattern of ignoreNamespaces matches inside the name of the namespace',
    sources: ['https://github.com/networkservicemesh/deployments-k8s/pull/13476', `${CHART}/pull/378`],
    says: /SCM ignores namespace ibm-why/,
    fix: /fix: take the pattern out of ignoreNamespaces/,
  },
  {
    name: 'SCM down',
    hop: 'installed',
    what: 'the SPIRE Controller Manager does not run',
    sources: [`${SCM}/issues/177`, 'https://github.com/solo-io/hoot/issues/77'],
    says: /SCM does not run: StatefulSet spire-server\/spire-server has 0 of 1 replicas ready/,
    fix: /fix: .*kubectl logs -n spire-server spire-server-0 -c spire-controller-manager/,
  },
  {
    name: 'label filter',
    hop: 'installed',
    what: 'SCM sees only objects with a label that this one lacks',
    sources: [`${SCM}/pull/710`, `${CHART}/pull/905`],
    says: /SCM ignores it: .*label/,
    fix: /fix: give ClusterSPIFFEID\/why-\S+ the labels/,
  },
  {
    name: 'missing label in a template',
    hop: 'rendered',
    what: 'the template reads a label that the pod has not',
    sources: [CSID_DOC, `${ISSUE}/2280`],
    says: /it fails to render/,
    fix: /fix: correct \.spec\.spiffeIDTemplate/,
  },
  {
    name: 'DNS name',
    hop: 'rendered',
    what: 'the server refuses a DNS name of the entry',
    sources: ['https://github.com/spiffe/spire/pull/1818', `${SCM}/pull/180`],
    says: /the SPIRE server refuses the entry/,
    fix: /fix: correct \.spec\.dnsNameTemplates/,
  },
  {
    name: 'displaced fallback',
    hop: 'rendered',
    what: 'a registration for another container takes the default identity away',
    sources: [`${CHART}/pull/479`, `${CHART}/pull/471`],
    says: /it is a fallback, and gives way to ClusterSPIFFEID\/other-/,
    fix: /fix: register the container itself/,
  },
  {
    name: 'pod without a node',
    hop: 'rendered',
    what: 'the pod is not scheduled, so that SCM makes no entry',
    sources: [`${SCM}/blob/v0.7.0/pkg/spireentry/reconciler.go#L567-L571`],
    says: /has no node/,
    fix: /fix: .*kubectl describe pod/,
  },
  {
    name: 'entry deleted',
    hop: 'on the server',
    what: 'another manager deletes the entries of this one',
    sources: [`${SCM}/issues/312`, `${CHART}/pull/287`],
    says: /the server holds no entry of it for this pod/,
    fix: /fix: .*entryIDPrefix/,
  },
  {
    name: 'entry changed',
    hop: 'on the server',
    what: 'the entry of the pod was made by hand, with other selectors',
    sources: [`${ISSUE}/1822`, 'https://github.com/spiffe/spire-tutorials/issues/123'],
    says: /the server holds no entry of it for this pod/,
    fix: /fix: /,
  },
  {
    name: 'no entries given',
    hop: 'on the server',
    what: 'the entries of the server were not given',
    sources: [`${SCM}/issues/87`],
    says: /the entries of the server were not given/,
    fix: /kubectl exec .*entry show -output json \| kubectl kleym why .* --entries -/,
    isNotKnown: true,
  },
  {
    name: 'no agent on the node',
    hop: 'on the agent',
    what: 'a taint keeps the agent from the node of the pod',
    sources: [
      'https://github.com/spiffe/helm-charts/issues/380',
      'https://github.com/cilium/cilium/issues/27228',
    ],
    says: /no SPIRE agent runs on node n2/,
    fix: /fix: .*tolerations/,
  },
  {
    name: 'agent not ready',
    hop: 'on the agent',
    what: 'the agent of the node does not come up again',
    sources: ['https://github.com/rossoctl/rossoctl/issues/1899', `${ISSUE}/3365`],
    says: /agent pod spire-system\/spire-agent-n\d is not ready/,
    fix: /fix: .*kubectl logs -n spire-system spire-agent-n\d/,
  },
  {
    name: 'cluster name',
    hop: 'on the agent',
    what: "SCM's clusterName is not that of the agents",
    sources: [`${TUTORIALS}/75`, `${ISSUE}/1822`],
    says: /the entry is for agents of cluster prod, and the agent of node n\d is of cluster demo/,
    fix: /fix: set clusterName/,
  },
  {
    name: 'agent cannot sync',
    hop: 'on the agent',
    what: 'the agent does not reach its server',
    sources: [`${ISSUE}/766`, `${ISSUE}/2760`],
    says: /the agent does not get its entries: its log says Synchronize failed/,
    fix: /fix: /,
  },
  {
    name: 'kubelet refuses the agent',
    hop: 'attested',
    what: 'the kubelet does not answer the agent, so that it attests no pod',
    sources: [`${ISSUE}/3152`, `${TUTORIALS}/85`],
    says: /the agent cannot ask the kubelet/,
    fix: /fix: .*skip_kubelet_verification/,
  },
  {
    name: 'container not found',
    hop: 'attested',
    what: 'the kubelet lists no such container: gVisor, a container that has just started',
    sources: [`${ISSUE}/7272`, `${ISSUE}/462`, `${ISSUE}/4088`],
    says: /the agent did not find the container/,
    fix: /fix: .*max_poll_attempts/,
  },
  {
    name: 'other selectors',
    hop: 'attested',
    what: 'the agent finds other selectors for the process than the entry has',
    sources: [`${TUTORIALS}/75`, `${ISSUE}/2578`],
    says: /the process has not the selector k8s:container-name:app/,
    fix: /fix: /,
  },
  {
    name: 'no container selectors',
    hop: 'attested',
    what: 'the agents have disable_container_selectors, and the entry names a container',
    sources: [`${ISSUE}/3092`, 'https://github.com/spiffe/spire/pull/3460'],
    says: /disable_container_selectors/,
    fix: /fix: /,
  },
  {
    name: 'postStart hook',
    hop: 'attested',
    what: 'a postStart hook waits for the SVID of its own container',
    sources: [`${ISSUE}/3092`],
    says: /the postStart hook of container app waits for an SVID/,
    fix: /fix: /,
  },
  {
    name: 'no log given',
    hop: 'attested',
    what: 'nothing of the agent was given that shows what it finds for the process',
    sources: [`${SCM}/issues/87`, `${ISSUE}/5859`],
    says: /what the agent finds for the process was not given/,
    fix: /kubectl logs .* --agent-log /,
    isNotKnown: true,
  },
  {
    name: 'no volume',
    hop: 'reachable',
    what: 'the pod mounts no socket of the Workload API',
    sources: [`${TUTORIALS}/95`, 'https://github.com/shieldworks/aegis/issues/29'],
    says: /container app has no way to the Workload API/,
    fix: /fix: mount a volume of csi\.spiffe\.io/,
  },
  {
    name: 'volume in another container',
    hop: 'reachable',
    what: 'another container of the pod mounts the socket, and this one does not',
    sources: ['https://github.com/spiffe/spiffe-csi/blob/v0.2.7/README.md', `${ISSUE}/2452`],
    says: /container proxy has the socket/,
    fix: /fix: mount /,
    isNotKnown: true,
  },
  {
    name: 'socket path',
    hop: 'reachable',
    what: 'SPIFFE_ENDPOINT_SOCKET names a path at which nothing is mounted',
    sources: [`${CHART}/issues/177`, `${ISSUE}/4522`, 'https://github.com/spiffe/go-spiffe/pull/230'],
    says: /SPIFFE_ENDPOINT_SOCKET is unix:\/\/\/tmp\/agent\.sock/,
    fix: /fix: set SPIFFE_ENDPOINT_SOCKET/,
  },
  {
    name: 'several SVIDs',
    hop: 'used',
    what: 'the container gets two identities without hints, and its client takes the first',
    sources: [
      'https://github.com/spiffe/aws-spiffe-workload-helper/issues/1',
      'https://github.com/SAP/cloud-sdk-java/issues/1243',
    ],
    says: /which of 2 SVIDs comes first is not defined/,
    fix: /fix: give each registration a \.spec\.hint/,
  },
  {
    name: 'one hint for two',
    hop: 'used',
    what: 'two identities have one hint, and the Workload API hands out one of them',
    sources: [
      'https://github.com/spiffe/java-spiffe/pull/114',
      'https://github.com/spiffe/spiffe-helper/issues/113',
    ],
    says: /have the hint shared/,
    fix: /fix: give each registration a \.spec\.hint/,
  },
  {
    name: 'written once',
    hop: 'used',
    what: 'an init container writes the SVID into a file, and nothing rotates it',
    sources: [
      'https://github.com/spiffe/spire/blob/v1.15.3/doc/spire_agent.md',
      'https://github.com/spiffe/spiffe-helper/blob/v0.10.1/README.md',
    ],
    says: /writes its SVID once/,
    fix: /fix: /,
  },
]

/** The first line of an answer of `why`, and the fix below it. */
export function firstSentence(text: string): string {
  const [first = '', second = ''] = text.split('\n')
  return second.startsWith('  fix: ') ? `${first};${second.slice(1)}` : first
}

/** What the first line of the answer about a fault is like. */
export function whyFirstLine({ says, fix, hop, isNotKnown }: WhyFault): RegExp {
  const place = isNotKnown === true ? 'not known' : 'broken'
  return new RegExp(`${place} at hop \\d, ${hop}: .*${says.source}.*${fix.source}`)
}

/** Faults that objects of a slot show, and that can be together in one. */
export const WHY_PAIRS: readonly (readonly [earlier: string, later: string])[] = [
  ['pod label', 'no volume'],
  ['service account', 'socket path'],
  ['class', 'agent not ready'],
  ['ignored namespace', 'no agent on the node'],
  ['missing label in a template', 'no volume'],
  ['DNS name', 'socket path'],
  ['displaced fallback', 'agent not ready'],
  ['entry deleted', 'socket path'],
  ['no agent on the node', 'postStart hook'],
  ['cluster name', 'several SVIDs'],
  ['agent cannot sync', 'no volume'],
  ['kubelet refuses the agent', 'several SVIDs'],
  ['postStart hook', 'no volume'],
  ['socket path', 'several SVIDs'],
  ['no volume', 'one hint for two'],
]

/** What the first line says and advises of a fault where the registration is a binding's; absent: the same. */
const OF_BINDINGS: Readonly<Record<string, Partial<Pick<WhyFault, 'says' | 'fix'>>>> = {
  'pod label': {
    says: /no registration selects the pod; nearest: ClusterSPIFFEID\/kleym-\S+, whose podSelector asks for app=llama/,
  },
  'service account': { fix: /fix: change \.spec\.serviceAccountName of InferenceIdentityBinding/ },
  'container name': { fix: /fix: change \.spec\.containerName of InferenceIdentityBinding/ },
  'ignored namespace': {},
  'pod without a node': {},
  'entry deleted': {},
  'entry changed': {},
  'no entries given': {},
  'no agent on the node': {},
  'agent not ready': {},
  'cluster name': {},
  'agent cannot sync': {},
  'kubelet refuses the agent': {},
  'container not found': {},
  'other selectors': {},
  'no container selectors': {},
  'postStart hook': {},
  'no log given': {},
  'no volume': {},
  'volume in another container': {},
  'socket path': {},
  'several SVIDs': {},
  'written once': {},
}

/** The faults of pods with a binding of kleym's: those above, as far as a binding can have them, and those that it alone has. */
export const BOUND_FAULTS: readonly WhyFault[] = [
  {
    name: 'pool gone',
    hop: 'wanted',
    what: 'the binding names a pool that is not there',
    sources: ['https://github.com/sonda-red/kleym'],
    says: /binding \S+\/llama is perhaps for this container, and is refused \(TargetPoolNotFound\): no InferencePool gone/,
    fix: /fix: Create the pool/,
  },
  ...WHY_FAULTS.flatMap((one) => {
    const own = OF_BINDINGS[one.name]
    return own === undefined ? [] : [{ ...one, ...own }]
  }),
]
