// Every finding code, once. The types, the pages in docs/findings, `explain CODE`, the help tables and the tests are
// made from this. A code is never reused and never changes its meaning.
import { keysOf } from '../../base/json.ts'
import { compareBytes } from '../../base/text/bytes.ts'
import { REASONS, type Reason, type RefusalReason } from '../../decide/index.ts'

/** The severities, the worst first. */
export const SEVERITIES = ['error', 'warning', 'info'] as const
/** How bad a finding is. */
export type Severity = (typeof SEVERITIES)[number]

/** What the registry says of a code. */
export interface FindingEntry {
  readonly severity: Severity
  /** A few words for a heading. */
  readonly title: string
  /** What is the case. */
  readonly meaning: string
  /** What follows from it. */
  readonly consequence: string
  /** What to do about it. */
  readonly fix: string
  /** The condition reason that the operator reports for the same thing. */
  readonly reason?: Reason
  /** What it says of containers, if that decides whether a change has fixed it (explain/better-off.ts). */
  readonly tells?: FindingTopic
  /** The objects that it names beside its subject are no part of its fingerprint (explain/finding-changes.ts). */
  readonly isOfSubjectAlone?: true
  /** Whether something clashes with something, as `conflicts` shows it; absent: so it is of codes that begin with KLM3, KLM4 or KLM6. */
  readonly isClash?: boolean
  /** It is about suppressions themselves, and nothing suppresses it. */
  readonly isOfSuppressions?: true
  /** It concerns every binding and every container, whatever its subject is. */
  readonly concerns?: 'every binding'
  /** It is about a registration that kleym does not follow, which may give any identity to any pod. */
  readonly isUnfollowed?: true
  /** What a binding does, as it says, to proxies that take their certificates from SPIRE. */
  readonly ofProxies?: 'gives what they cannot use' | 'takes what they need'
  /**
   * It says that outputs of kleym have no effect, or a container no way to one. Another setting shows that of each of them, so the assumption says it once
   * (rules/in-worlds.ts): of any output; of the output of its subject, if that is a binding; of the fallback that gives way to it.
   */
  readonly noEffect?: 'of any output' | 'of a binding' | 'of a fallback'
}

/** What a finding says of containers. */
export type FindingTopic = 'too little is held' | 'several are held' | 'others hold it'

const WITHDRAWN =
  "The operator withdraws the binding's ClusterSPIFFEID and writes none: a stale identity is worse than none."

/** One text, or its sentences. */
type Sentences = string | readonly string[]

type Texts = 'meaning' | 'consequence' | 'fix'
type Unrated = Omit<FindingEntry, 'severity' | Texts> & { readonly [Name in Texts]: Sentences }

const error = (entry: Unrated): FindingEntry => rated('error', entry)
const warning = (entry: Unrated): FindingEntry => rated('warning', entry)
const info = (entry: Unrated): FindingEntry => rated('info', entry)

function rated(severity: Severity, { meaning, consequence, fix, ...entry }: Unrated): FindingEntry {
  return {
    severity,
    meaning: textOf(meaning),
    consequence: textOf(consequence),
    fix: textOf(fix),
    ...entry,
  }
}

function textOf(sentences: Sentences): string {
  return typeof sentences === 'string' ? sentences : sentences.join(' ')
}

function refusal(reason: RefusalReason, title: string): FindingEntry {
  return error({
    title,
    meaning: REASONS[reason].meaning,
    consequence: WITHDRAWN,
    fix: REASONS[reason].fix,
    reason,
  })
}

/** The registry of finding codes. */
export const FINDINGS = {
  KLM101: refusal('InvalidPoolRef', 'malformed pool reference'),
  KLM102: refusal('TargetPoolNotFound', 'pool not found'),
  KLM103: refusal('AmbiguousPoolRef', 'ambiguous pool reference'),
  KLM104: refusal('InferencePoolCRDMissing', 'InferencePool is not served'),
  KLM105: refusal('InvalidObjectiveRef', 'bad objective reference'),
  KLM106: refusal('TargetObjectiveNotFound', 'objective not found'),
  KLM107: refusal('InferenceObjectiveCRDMissing', 'InferenceObjective is not served'),
  KLM110: warning({
    isClash: true,
    title: 'another pool of that name selects other pods',
    meaning:
      'The binding names the group of its pool, and the less preferred group holds a pool of the same name that selects other pods.',
    consequence: [
      "The SPIFFE ID holds the pool's name but not its group, so a reader of the ID cannot tell the two pools apart.",
      'A binding that names the other pool is refused.',
    ],
    fix: 'Remove the pool that is no longer used, or rename one of them.',
  }),
  KLM111: warning({
    title: 'legacy objective while llm-d.ai is served',
    meaning:
      'The binding resolves to an objective of the older GAIE group, although llm-d.ai objectives are served here.',
    consequence:
      "llm-d's endpoint picker reads llm-d.ai objectives only, so the objective that gives the identity its name has no effect.",
    fix: 'Move the objective to llm-d.ai/v1alpha2, under the same name.',
  }),
  KLM201: refusal('UnsafeSelector', 'selector not provably safe'),
  KLM202: refusal('InvalidPoolSelector', 'malformed pool selector'),
  KLM203: refusal('InvalidIdentityBoundary', 'bad variant'),
  KLM301: refusal('IdentityCollision', 'identity collision'),
  KLM302: warning({
    title: 'label sets that may overlap',
    meaning: [
      'Two PerObjective bindings name the same container and service account, or two PerVariant bindings the same variant and service account.',
      'Neither label set contains the other, but a pod may carry the labels of both pools.',
    ],
    consequence:
      'A pod with both label sets would hold both identities, and which of them a client gets first is not defined.',
    fix: 'Give one of the bindings its own containerName, or give the pools labels that exclude each other.',
  }),
  KLM303: warning({
    tells: 'several are held',
    title: 'several identities on one container',
    meaning:
      'More than one registration matches the container, so its process holds more than one SPIFFE ID.',
    consequence:
      'Many clients take the first SVID. SPIRE orders SVIDs by random entry IDs, so which one is used differs from pod to pod.',
    fix: 'Keep one registration per container, or make the client choose by hint or SPIFFE ID.',
  }),
  KLM304: warning({
    tells: 'others hold it',
    title: 'one SPIFFE ID claimed twice',
    meaning: 'Two registrations give the same SPIFFE ID to different workloads.',
    consequence: 'A peer that trusts the ID trusts both workloads, and cannot tell them apart.',
    fix: 'Keep one binding for each identity, or name different objectives or pools.',
  }),
  KLM305: info({
    title: 'foreign ClusterSPIFFEID on the same pods',
    meaning: "A ClusterSPIFFEID that is not kleym's selects pods that a binding reaches.",
    consequence: 'Those pods may hold its identity too; nothing proves that it stays within the tenant.',
    fix: 'Check that both registrations are wanted; narrow the podSelector of the foreign one if not.',
  }),
  KLM306: warning({
    title: 'a pod in two pools',
    meaning: 'The selectors of two pools choose the same pod.',
    consequence:
      'GAIE calls this unsupported: two endpoint pickers route to the pod, and PoolOnly bindings of both pools give it two identities.',
    fix: 'Give the pools labels that exclude each other.',
  }),
  KLM307: warning({
    tells: 'several are held',
    title: 'equal hints on one container',
    meaning: 'Two registrations with the same non-empty hint match one container.',
    consequence:
      "The Workload API hands out only one of them, the older entry, and drops the other with a warning in the agent's log.",
    fix: 'Give every ClusterSPIFFEID its own hint.',
  }),
  KLM308: error({
    tells: 'others hold it',
    title: 'identity given to another namespace',
    meaning:
      "A registration that is not kleym's gives the SPIFFE ID of a binding to pods of another namespace.",
    consequence: 'Those pods can act as the workload of the binding towards every peer that trusts its ID.',
    fix: 'Find out who made the other registration, and delete or correct it now.',
  }),
  KLM309: warning({
    tells: 'others hold it',
    title: 'one SPIFFE ID in two clusters',
    meaning:
      'Two clusters of one trust domain give the same SPIFFE ID. `conflicts` finds it if it is asked about several clusters at once.',
    consequence: [
      'A peer that trusts the ID trusts the workloads of both clusters, and cannot tell them apart.',
      'Whoever may create pods for it in one of them acts as the other.',
    ],
    fix: [
      'If the two are one tenant with one purpose, suppress it.',
      'Otherwise give the clusters trust domains of their own and federate them, or give namespaces or pools names that differ.',
    ],
  }),
  KLM310: warning({
    tells: 'others hold it',
    title: 'a container that can make identities',
    meaning: [
      'A container holds a SPIFFE ID with a right on SPIRE.',
      'An entry sets `admin` or `downstream` for it, a server lists it in `admin_ids`, or an agent in `authorized_delegates`.',
      'Every holder of the ID has the right, whichever entry gave it the ID.',
      'Configurations of SPIRE are read from ConfigMaps among files, not from a cluster.',
    ],
    consequence: [
      'With `admin` and `admin_ids` it can create entries and mint SVIDs for every identity of the trust domain.',
      'With `downstream` it gets a certificate authority that signs every identity.',
      'As a delegate it gets the SVIDs of every workload on its node, if it reaches the admin socket of the agent.',
      'No other answer about who holds what accounts for that.',
    ],
    fix: [
      'Take the right away.',
      'If the container is a SPIRE server below this one, or administers SPIRE, see that nothing else holds its ID, and suppress the finding with that reason.',
    ],
  }),
  KLM311: warning({
    tells: 'others hold it',
    title: 'an identity that pods of other namespaces can take',
    meaning: [
      "A registration that is not kleym's gives the SPIFFE ID of a binding to pods of other namespaces too.",
      'It is reported even if there is no such pod now; KLM308 names the pods that are there.',
      'An ID counts that is the same for every pod, and one whose template asks for labels, annotations and names of the pod alone.',
      'A registration that selects by labels of Namespaces does not count, because tenants do not choose these.',
    ],
    consequence:
      'Whoever may create pods there can act as the workload of the binding: labels and names are theirs to choose.',
    fix: "Give the registration a namespaceSelector for `kubernetes.io/metadata.name` of the binding's namespace, or delete it.",
  }),
  KLM401: error({
    noEffect: 'of any output',
    title: 'SCM ignores the output',
    meaning: [
      'The SPIRE controller manager does not handle the ClusterSPIFFEID that the binding renders.',
      'It handles another class, sees only objects with another label, or reads no ClusterSPIFFEIDs.',
      'The finding says which.',
    ],
    consequence: 'The binding is Ready, and no container ever gets the identity.',
    fix: [
      'Give kleym the class or the label that SCM asks for (--clusterspiffeid-class-name, --output-label).',
      'Or let SCM handle such objects (watchClassless, reconcile.clusterSPIFFEIDs).',
    ],
  }),
  KLM402: warning({
    tells: 'too little is held',
    title: 'default identity displaced',
    meaning:
      'A fallback ClusterSPIFFEID gives way as soon as another registration is rendered for the pod, whichever container that one is for.',
    consequence: 'The containers that the finding names are left without an identity.',
    fix: [
      'Bind the other containers too, or give them an identity by a ClusterSPIFFEID that is no fallback.',
      'PoolOnly gives them one, but not the default one (KLM418).',
    ],
  }),
  KLM403: warning({
    title: 'entry masked',
    meaning:
      'Another object owns an equal registration entry: same SPIFFE ID, parent and selectors on the same pod.',
    consequence: 'SCM keeps one of the two, the older; the TTL, hint and DNS names of the other are dropped.',
    fix: 'Delete one of the two objects, or make their SPIFFE IDs differ.',
  }),
  KLM404: error({
    title: 'the identity reaches no container',
    meaning: [
      "Pods or pod templates carry the pool's labels.",
      'None of them has the service account and the container of the binding, and nothing else that was read could add them.',
    ],
    consequence: 'No container gets the identity, and the pods lose a default identity that is a fallback.',
    fix: 'Correct serviceAccountName or containerName of the binding, or the pods.',
  }),
  KLM405: error({
    tells: 'too little is held',
    title: 'the SPIRE server refuses the entry',
    meaning: 'SCM would send a registration entry that spire-server does not accept.',
    consequence:
      'The identity is never issued, SCM tries again at every pass, and the fallback stays displaced.',
    fix: 'Correct the field that the evidence names.',
  }),
  KLM406: error({
    concerns: 'every binding',
    title: 'an object that stops the SPIRE controller manager',
    meaning:
      'Go cannot decode a ClusterSPIFFEID or ClusterStaticEntry: a wrong type, or a duration such as 1d.',
    consequence:
      'SCM works on with the old objects, so no new, edited or deleted registration takes effect in the cluster; after a restart it exits.',
    fix: 'Correct or delete the object now.',
  }),
  KLM407: error({
    concerns: 'every binding',
    title: 'an entry that is not UTF-8 stops all new entries',
    meaning: 'A template cuts a string in the middle of a character, and SCM cannot send the result.',
    consequence:
      'SCM creates no entry of that batch of 50, and none of the batches after it, in any namespace.',
    fix: 'Correct the template so that it slices no character in two.',
  }),
  KLM408: warning({
    noEffect: 'of a binding',
    tells: 'too little is held',
    title: 'a ClusterSPIFFEID fails to render',
    meaning:
      'A template, a selector or a trust domain of the ClusterSPIFFEID cannot be parsed, or a template fails for pods that it selects.',
    consequence:
      'SCM deletes the entries of those pods and logs the reason; the status shows only a counter, or nothing.',
    fix: 'Correct the field that the evidence names.',
  }),
  KLM409: error({
    title: 'SCM ignores the namespace, or all pods of the binding',
    meaning: [
      "The namespace of the binding matches one of SCM's ignoreNamespaces, which match anywhere in a name.",
      "Or SCM's cacheNamespaces lack the namespace, or leave out all pods of the pool by their labels.",
    ],
    consequence: 'The binding is Ready, and no pod of it ever gets the identity.',
    fix: [
      'Change ignoreNamespaces of SCM, for instance by anchoring the pattern with ^ and $.',
      'Or add the namespace to its cacheNamespaces, or move the workload.',
      'Or give the pods the labels that cacheNamespaces asks for.',
    ],
  }),
  KLM410: warning({
    noEffect: 'of any output',
    title: 'SCM would ignore the output as the SPIRE charts install it',
    meaning:
      "SCM's settings were not given, and as the hardened SPIRE charts install it, it ignores the output.",
    consequence: "If SCM runs with the charts' defaults, no container ever gets the identity.",
    fix: "Pass SCM's settings with --scm-config to be sure, and set --clusterspiffeid-class-name to its className.",
  }),
  KLM411: error({
    noEffect: 'of any output',
    concerns: 'every binding',
    title: 'kleym and SCM have different trust domains',
    meaning: 'The trust domain that kleym renders is not the one that SCM serves.',
    consequence: "SCM refuses to render any of kleym's registrations.",
    fix: 'Give kleym the trust domain of SCM.',
  }),
  KLM412: info({
    // Nothing clashes where no pod is there yet.
    isClash: false,
    title: "no pod has the pool's labels",
    meaning: 'No pod and no pod template that was read has the labels of the pool.',
    consequence: 'No container gets the identity yet.',
    fix: 'Nothing, if the workload is deployed later; else correct the labels of the pool or of the pods.',
  }),
  KLM413: info({
    tells: 'too little is held',
    isUnfollowed: true,
    title: 'a template that kleym does not support',
    meaning:
      'A ClusterSPIFFEID uses a template construct that kleym does not support, so its result is unknown.',
    consequence: 'Every answer that depends on that object is shown as unknown.',
    fix: 'Compare with the registration entries of the server: spire-server entry show.',
  }),
  KLM414: error({
    concerns: 'every binding',
    title: 'SCM does not start with this configuration',
    meaning: 'The configuration of the SPIRE controller manager holds a setting that it refuses at start.',
    consequence: 'SCM makes and changes no registration in the cluster.',
    fix: 'Correct the setting that the evidence names.',
  }),
  KLM415: warning({
    title: 'a variant that no pod carries',
    meaning:
      "The binding names a variant of its pool, and none of the pool's pods carries the label of variants with that value.",
    consequence:
      'No container gets the identity. A misspelt variant looks like this, and so does a label key that differs from that of the pods.',
    fix: 'Correct .spec.identityBoundary.variant or the label of the pods; compare the key with kubectl kleym status.',
  }),
  KLM416: warning({
    isOfSubjectAlone: true,
    title: 'pods of a pool that no variant covers',
    meaning:
      'Bindings divide the pods of the pool among variants. Some pods carry no variant, or one that no binding names for their service account.',
    consequence: 'Those pods get no identity of the pool: they keep a default identity, or have none.',
    fix: 'Label the pods in their template, bind the variant that is missing, or add a PoolOnly binding for all of them.',
  }),
  KLM417: warning({
    title: 'a variant that the template does not say',
    meaning:
      'The template of a workload has no label of variants, but pods like it carry one: a controller or a webhook sets it.',
    consequence:
      'The files do not show what runs. Whoever controls that controller decides which identity a pod gets.',
    fix: 'Put the label into the template; if leaders and workers of a LeaderWorkerSet differ, into both templates.',
  }),
  KLM418: info({
    noEffect: 'of a fallback',
    tells: 'too little is held',
    title: 'default identity replaced',
    meaning: [
      'A fallback ClusterSPIFFEID gives way on the pod, and the containers that the finding names hold another identity in its place.',
      'The finding is about the bindings of the pod, or about a registration of others that displaces the fallback without them.',
    ],
    consequence:
      'A peer that knows those containers by the default identity, such as a service mesh or a policy, does not know them any more.',
    fix: 'Let the peers that know the default identity accept the new one, or give it back by a ClusterSPIFFEID that is no fallback.',
  }),
  KLM419: error({
    concerns: 'every binding',
    title: 'one SCM deletes the entries of another',
    meaning:
      'Two SPIRE controller managers run beside one SPIRE server, and one of them takes the entries of the other for its own: its entryIDPrefix is absent, the same, or a beginning of the other. They act on different objects, as SCMs of two classes or of two clusters do.',
    consequence:
      'Each pass of the one deletes entries that the next pass of the other makes again. SVIDs come and go, and a workload may get none.',
    fix: 'Give each SCM of the server an entryIDPrefix of its own.',
  }),
  KLM420: warning({
    isOfSubjectAlone: true,
    title: 'a field that the API server drops',
    meaning:
      'A manifest of a registration, a pool or an objective holds a field that its CRD does not have, or a null among labels.',
    consequence: [
      "kubectl's strict validation refuses an unknown field; for any other client the API server drops the field.",
      'The object then means what is left: a selector without its field selects everything.',
    ],
    fix: 'Correct the name of the field, or remove it. If the CRD is newer than kleym and has the field, suppress the finding.',
  }),
  KLM421: error({
    isOfSubjectAlone: true,
    title: 'the API server refuses the object',
    meaning:
      'A manifest of a registration, a pool or an objective holds a value of another type than its CRD asks for, or lacks a field that the CRD requires. Or a manifest of one of these, or of a binding, is to be created in a namespace that is being deleted.',
    consequence:
      'The apply fails. Whatever was in the cluster before stays as it is, and what it does there is not known here.',
    fix: 'Correct the field that the summary names. In a namespace that is being deleted, wait until it is gone and has been created again.',
  }),
  KLM422: warning({
    title: 'the class is no label value',
    meaning: [
      "kleym's class cannot stand in the label spire.spiffe.io/class-name.",
      'A label value has at most 63 letters, digits, dashes, underscores and dots, and begins and ends with a letter or digit.',
      'The outputs have it in spec.className alone.',
    ],
    consequence: 'A SPIRE controller manager with filterByClassName sees none of the outputs.',
    fix: 'Give SCM a shorter or plainer className, and kleym the same (--clusterspiffeid-class-name).',
  }),
  KLM430: warning({
    tells: 'too little is held',
    noEffect: 'of any output',
    title: 'an identity without a way to the Workload API',
    meaning: [
      'A binding gives a container an identity, and nothing that is mounted in the container leads to the socket of an agent.',
      'It has no volume of the CSI driver csi.spiffe.io, and no hostPath.',
      'A volume of that driver without readOnly: true, or with an fsType, is no way: the driver refuses it, and the pod does not start.',
      'If all containers of a pod get the identity, it is reported only if none of them has such a way.',
    ],
    consequence:
      'The entry is there and matches, and the workload never gets its SVID: it cannot ask for it.',
    fix: [
      'Add a volume of the CSI driver csi.spiffe.io to the pod, and mount it in the container (docs/no-svid.md).',
      'If a webhook adds it, ask about the running pods, or suppress the finding.',
    ],
  }),
  KLM431: warning({
    tells: 'too little is held',
    title: 'waiting for an SVID that cannot come',
    meaning: [
      'An init container or a postStart hook runs spire-agent api fetch or spiffe-helper, but its container cannot have an SVID at that time.',
      'Either no registration gives the init container one, or the hook runs before the kubelet reports its container.',
    ],
    consequence: 'The command fails or waits for ever, and the pod does not start.',
    fix: 'Bind the init container too, or use PoolOnly; ask for SVIDs in the main process or in a native sidecar, not in a hook.',
  }),
  KLM440: error({
    ofProxies: 'gives what they cannot use',
    title: 'an identity that the proxy cannot use',
    meaning: [
      'A binding gives its identity to a proxy that takes its certificates from SPIRE: the socket is mounted where the proxy looks for one.',
      'The mesh of the proxy accepts IDs of service accounts alone, whose path is /ns/NAMESPACE/sa/NAME.',
      'PoolOnly and PerVariant give their identity to all containers of a pod, since no selector of SPIRE leaves one out.',
    ],
    consequence: [
      'Peers in the mesh verify IDs against service accounts, and refuse this one.',
      'If the proxy holds another SVID too, it presents the first one, and SPIRE draws their order at random for each pod.',
    ],
    fix: [
      'If the pool has an objective, use PerObjective for the container of the model.',
      'Register the proxy beside it (docs/consumers.md).',
      'That takes a ClusterSPIFFEID that is no fallback, with the ID of the service account and the selector k8s:container-name of the proxy.',
      'kubectl kleym suggest proves both: it writes them for a pool that has no binding yet, and names the steps for one that has.',
      'Without an objective it is impossible: a registration for the proxy adds an SVID and takes none away.',
    ],
  }),
  KLM441: error({
    tells: 'too little is held',
    ofProxies: 'takes what they need',
    title: 'a proxy loses the identity that its mesh needs',
    meaning: [
      'A fallback ClusterSPIFFEID gave the proxy the ID of its service account, and gives way to another registration of the pod.',
      'The proxy takes its certificates from SPIRE.',
      'It is left with none, or it asks for that ID by name (Kuma) and gets no other.',
    ],
    consequence: 'The proxy does not start or loses its certificate, and the pod is cut off from the mesh.',
    fix: [
      'Register the proxy by itself before the binding is applied (docs/consumers.md).',
      'That takes a ClusterSPIFFEID that is no fallback, with the ID of the service account and the selector k8s:container-name of the proxy.',
      'kubectl kleym suggest writes it, with the binding if there is none yet.',
    ],
  }),
  KLM442: info({
    title: 'an identity that a proxy of the node cannot take',
    meaning: [
      'A proxy of the node serves the pod and asks for identities by the pod.',
      'The binding gives its identity to one container, and such a request does not name the container.',
    ],
    consequence: [
      'The container gets its identity from the Workload API alone.',
      'The proxy of the node never presents it.',
      'A fallback that gives the pod the ID of its service account gives way to the binding, so a proxy of the node that asks SPIRE is left without that too.',
    ],
    fix: [
      'Nothing, if the proxy of the node takes its certificates from its mesh.',
      'If it asks SPIRE, register the pod as a whole with the ID of the service account, by a ClusterSPIFFEID that is no fallback.',
      'The meshes of such proxies accept no ID of a binding, also not of PoolOnly or PerVariant (docs/consumers.md).',
      'The containers then hold that ID beside their own.',
    ],
  }),
  KLM501: refusal('UnsupportedMode', 'unsupported mode'),
  KLM502: refusal('MissingObjectiveRef', 'objective missing'),
  KLM503: refusal('InvalidServiceAccountName', 'bad service account name'),
  KLM504: refusal('InvalidContainerName', 'bad container name'),
  KLM505: refusal('UnexpectedContainerName', 'container named for a whole pool'),
  KLM506: refusal('InvalidSPIFFEID', 'invalid SPIFFE ID'),
  KLM507: refusal('MissingTrustDomain', 'trust domain missing'),
  KLM508: refusal('ClusterSPIFFEIDCRDMissing', 'ClusterSPIFFEID is not served'),
  KLM509: { ...refusal('OutputNotOwned', "the output's name is taken"), isClash: true },
  KLM510: refusal('ManagedOutputApplyFailed', 'the API server refuses the output'),
  KLM511: warning({
    title: 'undetermined',
    meaning: REASONS.Undetermined.meaning,
    consequence: 'What is in force stays in force. The answer is incomplete: a refusal may hide behind it.',
    fix: REASONS.Undetermined.fix,
    reason: 'Undetermined',
  }),
  KLM512: warning({
    isClash: true,
    title: 'waiting for a peer',
    meaning: REASONS.WaitingForPeer.meaning,
    consequence: 'Nothing is written for the binding until the other registration is gone.',
    fix: REASONS.WaitingForPeer.fix,
    reason: 'WaitingForPeer',
  }),
  KLM550: error({
    isClash: true,
    title: 'a field that a binding does not have',
    meaning: 'The manifest of a binding holds a field that its CRD does not have.',
    consequence:
      "kubectl's strict validation refuses the binding. For any other client the API server drops the field, and the binding asks for more than was meant.",
    fix: 'Correct the name of the field, or remove it.',
  }),
  KLM520: warning({
    isClash: true,
    title: 'settings disagree',
    meaning: [
      'Two sources give different values of one setting.',
      "Sources are the command line, the objects (the operator's Deployment, statuses, outputs, SCM's ConfigMap), the environment, and .kleym.yaml.",
      'Or a change edits the settings file that judges it.',
    ],
    consequence:
      'The answer shows the value of the first source. What depends on the setting is not known (docs/assumptions.md).',
    fix: 'Roll the operator out with the settings that are meant, or correct the flags.',
  }),
  KLM521: warning({
    isClash: true,
    title: 'an output without a binding',
    meaning:
      "A ClusterSPIFFEID of kleym's names a binding that is gone, or that was made again under another UID.",
    consequence:
      'Its registration stays in force until the operator deletes it. Until then bindings that claim the same container wait.',
    fix: 'Let the operator run: it deletes the object by itself.',
  }),
  KLM522: warning({
    title: 'an object that looks like an output, and is not',
    meaning: [
      "A ClusterSPIFFEID has a name or a label of kleym's and no annotations that prove it to be an output.",
      'Another tool or an older version made it, or a webhook or a person took the annotations away.',
    ],
    consequence: [
      'kleym neither changes nor deletes it, and SPIRE keeps registering what it says.',
      'Under a name of the shape that kleym gives, it keeps bindings that claim the same container waiting.',
    ],
    fix: 'If nothing else needs it, delete it with kubectl; the binding that it once belonged to writes its own anew.',
  }),
  KLM551: error({
    isClash: true,
    title: 'a kind, group or version that nothing serves',
    meaning: [
      'The apiVersion and kind of a manifest are nearly those of a kind that kleym reads.',
      "A letter is wrong, the kind is none of kleym's group, or kleym's CRD does not serve the version.",
    ],
    consequence:
      'The API server refuses the object, and nothing of it is judged here: an answer without it would look complete.',
    fix: 'Correct apiVersion and kind.',
  }),
  KLM530: warning({
    isOfSuppressions: true,
    title: 'a suppression that suppresses nothing',
    meaning: 'A --suppress flag or a suppress annotation names a finding that does not exist.',
    consequence: 'None now. If the finding comes back later, it is hidden.',
    fix: 'Remove the suppression, or correct its code or its object.',
  }),
  KLM531: warning({
    isOfSuppressions: true,
    title: 'a suppression that does not count',
    meaning: [
      'A suppress annotation has no reason, names no finding code, or means a finding that an annotation cannot suppress.',
      'It can suppress no error, and no finding that another namespace is part of.',
    ],
    consequence: 'The finding is reported as if the annotation were not there.',
    fix: 'Write a line CODE: reason for each code, or suppress the finding with --suppress.',
  }),
  KLM540: warning({
    title: 'the status lags',
    meaning: 'The operator has not yet written a status for the binding as it is now.',
    consequence: 'What the status and `kubectl get` say is about an earlier state, or is not there.',
    fix: 'Wait a moment and ask again; if it stays, look whether the operator runs: kubectl kleym status.',
  }),
  KLM541: warning({
    title: 'the status gives another reason',
    meaning: "The operator's status has seen the binding as it is now, and gives another reason.",
    consequence:
      'Either something has just changed and the operator has not seen it yet, or it meets what cannot be seen from here.',
    fix: 'Ask again in a moment; if it stays, compare versions and settings (kubectl kleym status), and read its log.',
  }),
  KLM542: warning({
    title: 'the output is not as it should be',
    meaning:
      'A ClusterSPIFFEID of the binding was changed, is gone, or is still there though it should not be.',
    consequence: 'Registrations follow what is there until the operator has put it right.',
    fix: 'Let the operator run: it puts the object right by itself; kubectl kleym diff shows what it has not done yet.',
  }),
  KLM543: error({
    isClash: true,
    title: 'the operator does not run',
    meaning:
      'No replica of the operator is available; or bindings wait for the operator, and there is no Deployment of it. In files: its Deployments ask for no replica, or a change deletes them.',
    consequence:
      'What is in force stays so. No change is applied: no binding is decided, no output is written or withdrawn.',
    fix: 'Look at the Deployment, its replicas and the log of its pods.',
  }),
  KLM544: error({
    title: 'a kind that kleym needs is not served',
    meaning: 'The API server says that it does not serve bindings, ClusterSPIFFEIDs, or any kind of pool.',
    consequence: 'No binding can become ready.',
    fix: 'Install the CRD: of kleym with its chart, of SPIRE with spire-crds, of pools with the Gateway API Inference Extension.',
  }),
  KLM546: warning({
    title: 'in force otherwise than predicted',
    meaning:
      "The condition InForce, which the operator reads from SCM's counters, and the prediction of this answer disagree.",
    consequence:
      'Either SCM is behind or not running, another SCM acts on the object, or its settings are not those that this answer uses.',
    fix: "Ask again in a minute; if it stays, pass SCM's settings with --scm-config and read the log of SCM.",
  }),
  KLM545: error({
    title: 'two operators in one cluster',
    meaning: 'More than one Deployment of the operator is there, each with a Lease of its own.',
    consequence: [
      'An operator never touches the ClusterSPIFFEIDs of another install.',
      'While another install has any, it is not ready, and bindings with such a ClusterSPIFFEID wait.',
      'An operator without a ClusterSPIFFEID of its own then writes nothing.',
    ],
    fix: 'Uninstall all but one: one operator serves the whole cluster.',
  }),
  KLM601: warning({
    title: 'a policy names an identity that nothing gives',
    meaning: [
      "A rule of an access policy, or another object that is read for the names in it, names a SPIFFE ID in SPIRE's trust domain.",
      'No ClusterSPIFFEID and no ClusterStaticEntry gives that ID.',
    ],
    consequence:
      'No client presents that ID, so the name matches no client. An ID that is written whole is compared as a whole, in its case.',
    fix: 'Correct the ID in the policy (the evidence names similar IDs), or bind the workload that should hold it.',
  }),
  KLM602: warning({
    title: 'the type and the field of a policy source disagree',
    meaning:
      "The source of a rule has one type and fills the field of another type. The CRD's validation does not tie the two together.",
    consequence:
      'In the reference implementation only the type counts; the field of that type is missing, so the rule names any principal.',
    fix: 'Make the type of the source and its field agree.',
  }),
  KLM603: warning({
    title: 'a policy names any principal',
    meaning:
      'The source of a rule is missing, has no type, or has a type without its member. (There is no wildcard: this is what one looks like.)',
    consequence:
      'In the reference implementation the rule names every client of the gateway, all identities of bindings included.',
    fix: 'Name the identities that are meant, one rule each. If every client is meant, suppress the finding.',
  }),
  KLM604: info({
    title: 'no policy names the identity',
    meaning:
      'There are access policies, and none of them names the SPIFFE ID of the binding, its service account, or any principal.',
    consequence:
      'Often that is as it should be: model servers are called, and policies name callers. It matters if the pods call tools themselves.',
    fix: 'Nothing, unless the workload is meant to be named: then name its SPIFFE ID in a rule.',
  }),
  KLM605: info({
    noEffect: 'of any output',
    title: 'a policy names an identity that no container holds now',
    meaning:
      'A rule of an access policy names a SPIFFE ID that some object gives, and no container holds it now.',
    consequence: 'The rule matches no client until a pod gets the identity.',
    fix: 'Nothing, if the workload is deployed later; otherwise see why the registration reaches no container: kubectl kleym explain.',
  }),
  KLM606: warning({
    title: 'a policy names a service account whose pods present another ID',
    meaning:
      'A rule names a service account, which means the one SPIFFE ID /ns/NAMESPACE/sa/NAME; pods that run under it hold the ID of a binding.',
    consequence:
      'IDs are compared as a whole: if those pods present the ID of the binding, the rule does not name them.',
    fix: 'Name the SPIFFE ID of the binding in a rule of its own, with a source of type SPIFFE.',
  }),
  KLM607: warning({
    title: 'a policy that may not take effect as it is written',
    meaning: [
      'The status or the fields of an access policy show that it, or one of its rules, does something else than its text says, or nothing.',
      'Or its status is about an earlier version of it.',
    ],
    consequence:
      'What follows is behaviour of the reference implementation, which the evidence states; another implementation may differ.',
    fix: 'Follow the fix that the finding itself names.',
  }),
  KLM608: warning({
    title: 'two policies with one rule name on one target',
    meaning: 'Two access policies target the same object, and each has a rule of the same name.',
    consequence:
      'The reference implementation keeps rules by their names alone: that of the later policy replaces the other, without a word.',
    fix: 'Give the rules names that are unique among all policies of the target.',
  }),
  KLM609: warning({
    title: 'a policy that cannot be interpreted',
    meaning: [
      'An access policy is of a group or version from before v1alpha1, or of a version that kleym does not know.',
      'Or it is of the kind AccessPolicy, which only proposals have, or it has a field that cannot be understood.',
    ],
    consequence: [
      'Which identities it names is unknown, so kleym cannot say of any identity that no policy names it.',
      'A manifest of kind AccessPolicy is read, but no API server serves that kind.',
    ],
    fix: 'Write it as XAccessPolicy of agentic.networking.x-k8s.io/v1alpha1, or correct the field that is named.',
  }),
  KLM610: warning({
    title: 'a policy names an identity in a form that matches nothing',
    meaning: [
      'A name in an Istio, Linkerd, Gateway API or agentgateway object is written in a form that no SPIFFE ID is equal to.',
      'Istio writes spiffe:// itself: principals: ["spiffe://example.org/ns/a/sa/b"] means spiffe://spiffe://example.org/ns/a/sa/b.',
    ],
    consequence: 'The name matches no client.',
    fix: 'Write the form that the finding names; for Istio principals, the ID without spiffe://; for a pattern in claims of Vault, bound_claims_type: glob.',
  }),
  KLM611: info({
    title: 'a pattern in a policy takes in the identities of several namespaces',
    meaning: 'A name with a wildcard takes in SPIFFE IDs of bindings in more than one namespace.',
    consequence: 'Whoever may create a binding in one of these namespaces is named by the rule too.',
    fix: 'Nothing, if all of them are meant; otherwise write a longer prefix, or name the IDs.',
  }),
  KLM612: info({
    title: 'an object mentions an identity that nothing gives',
    meaning: [
      "A string of an object (a variable, an argument, a configuration) holds a SPIFFE ID in SPIRE's trust domain.",
      'No ClusterSPIFFEID and no ClusterStaticEntry gives that ID.',
    ],
    consequence:
      'What the string is for is not known. If it says whom the program expects or calls, nobody presents that ID.',
    fix: 'Correct the ID (the evidence names similar IDs), or bind the workload that should hold it.',
  }),
  KLM701: error({
    title: 'an identity test fails',
    meaning: 'An assertion of an IdentityTest is not true of what containers would hold.',
    consequence:
      'A container holds an identity that it should not, or does not hold one that it should, or the test names what is not there.',
    fix: 'Undo the change that made it untrue. If the change was meant, see what the test must say: kubectl kleym test --update.',
  }),
  KLM801: error({
    title: 'an entry is not on the server',
    meaning:
      'The objects ask for a registration entry, and the SPIRE server does not hold it. If the cause is certain, the evidence names it.',
    consequence: 'The containers that the entry is for do not get the identity.',
    fix: "See that the SPIRE controller manager runs and what its log says, then compare again with a new dump of the server's entries.",
  }),
  KLM802: error({
    title: 'an entry that no object asks for gives an identity',
    meaning:
      'The SPIRE server holds a registration entry that no object asks for, and a container of this cluster has its selectors.',
    consequence: 'The container gets an identity that no manifest shows.',
    fix: [
      "Wait for SCM's next pass if SCM takes the entry for its own.",
      'Otherwise delete it (spire-server entry delete -entryID ID), or declare it in a ClusterStaticEntry.',
    ],
  }),
  KLM803: warning({
    title: 'an entry differs from its objects',
    meaning: [
      'The SPIRE server holds the entry that the objects ask for, with other DNS names, federation, hint, TTL or flags.',
      "Or the entry expires at some time, or its ID lacks SCM's entryIDPrefix.",
    ],
    consequence: [
      'Identities are issued as the server has the entry, until SCM writes it again.',
      'SCM neither writes nor deletes an entry that it does not see, and meanwhile the server refuses the equal entry of SCM.',
      'An entry that expires is deleted then, and its containers are without the identity until SCM makes its own.',
    ],
    fix: [
      'See that the SPIRE controller manager runs: it writes an entry that differs in its next pass.',
      'It leaves one that only expires: delete that (spire-server entry delete -entryID ID).',
    ],
  }),
  KLM804: error({
    title: 'an entry gives a right that no object asks for',
    meaning: [
      'An entry on the SPIRE server has admin or downstream set, a container of this cluster holds its SPIFFE ID, and no object asks for that.',
      'The right belongs to the ID: it does not matter for which node or container the entry is.',
    ],
    consequence:
      "Its workload may use the server's administrative API, or have an intermediate certificate authority signed.",
    fix: [
      'Find out who made or changed the entry, and delete it (spire-server entry delete -entryID ID).',
      'SCM makes it again if an object asks for it, as that says.',
    ],
  }),
  KLM805: info({
    title: 'an entry that no object asks for gives no identity here',
    meaning: [
      'The SPIRE server holds a registration entry that no object of this cluster asks for.',
      'No container here has its selectors, and none that holds its SPIFFE ID has a right by it: it is left over, or another client of the server made it.',
    ],
    consequence: 'None in this cluster. SCM removes those that it takes for its own.',
    fix: 'If another client of the server made it, nothing. Otherwise delete it (spire-server entry delete -entryID ID).',
  }),
  KLM806: info({
    title: 'a difference that may only be a matter of time',
    meaning:
      "The objects and the server's entries were not read at the same moment, and an object or an entry is so young that this explains the difference.",
    consequence: 'Whether SCM and the server agree about it is not known.',
    fix: 'Dump the entries again and compare once more; --as-of says when a dump was made.',
  }),
  KLM811: error({
    title: 'an entry federates with a bundle that is not there',
    meaning:
      'A registration names a trust domain in .spec.federatesWith, and the SPIRE server holds no bundle of it.',
    consequence:
      'The server refuses every entry of the object as a whole: its containers get no identity, not even one for their own trust domain.',
    fix: 'Declare the relationship in a ClusterFederatedTrustDomain and see that its endpoint answers, or take the trust domain out of .spec.federatesWith.',
  }),
  KLM812: warning({
    title: 'a default identity depends on bundles of others',
    meaning:
      'A ClusterSPIFFEID that is a fallback, or that selects every pod, federates with other trust domains.',
    consequence: [
      'If the server holds no bundle of one of them, it refuses the entry of every pod.',
      "Another organisation's endpoint then decides whether workloads here have an identity.",
    ],
    fix: 'Federate in a ClusterSPIFFEID of its own for the workloads that need it, and let the default identity federate with none.',
  }),
  KLM813: warning({
    title: 'a relationship that no object declares',
    meaning:
      'A registration names a trust domain in .spec.federatesWith, and no ClusterFederatedTrustDomain that SCM handles declares the relationship with it.',
    consequence: [
      'Nothing here brings or renews the bundle.',
      'While the server holds none, it refuses every entry of the object.',
      'When a bundle that was set by hand has run out, peers of that trust domain are not trusted.',
    ],
    fix: [
      'Declare the relationship in a ClusterFederatedTrustDomain, or take the trust domain out of .spec.federatesWith.',
      'If the server federates by its own configuration (federates_with), suppress the finding.',
    ],
  }),
  KLM821: error({
    title: 'a container lacks an SVID',
    meaning: 'A process asked the Workload API, and did not get an SVID that its container should have.',
    consequence: 'The workload runs without that identity.',
    fix: "See that the entry is on the server, that the agent of the pod's node runs, and which selectors it finds for the process (log_selectors).",
  }),
  KLM822: error({
    title: 'a container holds an SVID that it should not',
    meaning: 'A process asked the Workload API, and got an SVID that no object gives its container.',
    consequence: 'The workload acts under an identity that no manifest shows.',
    fix: 'Find the entry that gives it (kubectl kleym verify --entries), and delete it or declare it.',
  }),
} satisfies Record<string, FindingEntry>

/** A finding code: `KLM101`. */
export type FindingCode = keyof typeof FINDINGS

/** All codes, in order. */
export const FINDING_CODES: readonly FindingCode[] = keysOf(FINDINGS).toSorted(compareBytes)

const BY_REASON = new Map<Reason, FindingCode>(
  FINDING_CODES.flatMap((code) => {
    const { reason } = FINDINGS[code]
    return reason === undefined ? [] : [[reason, code] as const]
  }),
)

/** The code under which the plugin reports a condition reason; undefined for a reason that it does not report. */
export function codeOfReason(reason: Reason): FindingCode | undefined {
  return BY_REASON.get(reason)
}

/** The entry of a code, in its general type. */
export function findingEntry(code: FindingCode): FindingEntry {
  return FINDINGS[code]
}

/** Whether a code says that something clashes with something. */
export function isClash(code: FindingCode): boolean {
  return findingEntry(code).isClash ?? /^KLM[346]/.test(code)
}

/** Whether a code is about names in access policies. */
export function isOfPolicies(code: FindingCode): boolean {
  return code.startsWith('KLM6')
}

/** The finding code that a text is, in any case of letters; undefined where it is none. */
export function findingCodeOf(text: string): FindingCode | undefined {
  const upper = text.toUpperCase()
  return FINDING_CODES.find((code) => code === upper)
}
