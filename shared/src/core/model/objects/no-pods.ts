// Kinds whose objects make no pods, except those of a template in the object, with the source. An object of any other kind may
// make pods that nothing in it shows (docs/reading-files.md, "Kinds that hold pods"). A wrong row here hides them; a missing
// one costs an exit code of 4.

/** `*.group` is every kind of a group, `**.group` of the groups below it. */
const NO_PODS = {
  // Kubernetes itself. Other projects have groups below k8s.io too, and some of them make pods.
  'https://kubernetes.io/docs/reference/kubernetes-api/': [
    '*.admissionregistration.k8s.io',
    '*.apiextensions.k8s.io',
    '*.apiregistration.k8s.io',
    '*.authentication.k8s.io',
    '*.authorization.k8s.io',
    '*.certificates.k8s.io',
    '*.coordination.k8s.io',
    '*.discovery.k8s.io',
    '*.events.k8s.io',
    '*.flowcontrol.apiserver.k8s.io',
    '*.internal.apiserver.k8s.io',
    '*.networking.k8s.io',
    '*.node.k8s.io',
    '*.rbac.authorization.k8s.io',
    '*.resource.k8s.io',
    '*.scheduling.k8s.io',
    '*.storage.k8s.io',
    '*.storagemigration.k8s.io',
  ],
  'https://kubernetes.io/docs/reference/config-api/': [
    '*.apiserver.config.k8s.io',
    '*.apiserver.k8s.io',
    '*.audit.k8s.io',
    '*.client.authentication.k8s.io',
    '*.kubeadm.k8s.io',
    '*.kubelet.config.k8s.io',
    '*.kubeproxy.config.k8s.io',
    '*.kubescheduler.config.k8s.io',
    '*.controller-runtime.sigs.k8s.io',
  ],
  'https://github.com/kubernetes/metrics': [
    '*.metrics.k8s.io',
    '*.custom.metrics.k8s.io',
    '*.external.metrics.k8s.io',
  ],
  'https://kubernetes.io/docs/concepts/storage/volume-snapshots/': [
    '*.snapshot.storage.k8s.io',
    '*.groupsnapshot.storage.k8s.io',
  ],
  'https://github.com/kubernetes/autoscaler/tree/master/vertical-pod-autoscaler': ['*.autoscaling.k8s.io'],
  'https://github.com/kubernetes-sigs/application': ['*.app.k8s.io'],
  'https://network-policy-api.sigs.k8s.io/': ['*.policy.networking.k8s.io'],
  'https://kubectl.docs.kubernetes.io/references/kustomize/': ['*.kustomize.config.k8s.io'],
  // Certificates and secrets. Solvers of cert-manager are short-lived pods of its own making.
  'https://cert-manager.io/docs/reference/api-docs/': [
    '*.cert-manager.io',
    '*.acme.cert-manager.io',
    '*.trust.cert-manager.io',
    '*.policy.cert-manager.io',
  ],
  'https://external-secrets.io/latest/api/spec/': [
    '*.external-secrets.io',
    '*.generators.external-secrets.io',
  ],
  'https://github.com/bitnami-labs/sealed-secrets': ['*.bitnami.com'],
  'https://developer.hashicorp.com/vault/docs/platform/k8s/vso/api-reference': ['*.secrets.hashicorp.com'],
  'https://developer.1password.com/docs/k8s/operator/': ['*.onepassword.com'],
  'https://github.com/isindir/sops-secrets-operator': ['*.isindir.github.com'],
  'https://infisical.com/docs/integrations/platforms/kubernetes/overview': ['*.secrets.infisical.com'],
  'https://docs.doppler.com/docs/kubernetes-operator': ['*.secrets.doppler.com'],
  'https://secrets-store-csi-driver.sigs.k8s.io/concepts': ['*.secrets-store.csi.x-k8s.io'],
  'https://github.com/spiffe/spire-controller-manager/tree/main/docs': ['*.spire.spiffe.io'],
  // What is measured and scaled. The kinds that run Prometheus itself are not here.
  'https://prometheus-operator.dev/docs/api-reference/api/': [
    'ServiceMonitor.monitoring.coreos.com',
    'PodMonitor.monitoring.coreos.com',
    'Probe.monitoring.coreos.com',
    'PrometheusRule.monitoring.coreos.com',
    'ScrapeConfig.monitoring.coreos.com',
    'AlertmanagerConfig.monitoring.coreos.com',
  ],
  'https://cloud.google.com/stackdriver/docs/managed-prometheus/setup-managed': [
    '*.monitoring.googleapis.com',
  ],
  'https://docs.victoriametrics.com/operator/api/': [
    'VMServiceScrape.operator.victoriametrics.com',
    'VMPodScrape.operator.victoriametrics.com',
    'VMRule.operator.victoriametrics.com',
  ],
  'https://grafana.github.io/grafana-operator/docs/api/': [
    'GrafanaDashboard.grafana.integreatly.org',
    'GrafanaDatasource.grafana.integreatly.org',
    'GrafanaFolder.grafana.integreatly.org',
    'GrafanaAlertRuleGroup.grafana.integreatly.org',
    'GrafanaContactPoint.grafana.integreatly.org',
    'GrafanaNotificationPolicy.grafana.integreatly.org',
  ],
  'https://keda.sh/docs/2.18/reference/': [
    'ScaledObject.keda.sh',
    'TriggerAuthentication.keda.sh',
    'ClusterTriggerAuthentication.keda.sh',
    '*.http.keda.sh',
  ],
  'https://github.com/llm-d-incubation/workload-variant-autoscaler': ['*.llmd.ai'],
  // Networks.
  'https://istio.io/latest/docs/reference/config/': [
    '*.networking.istio.io',
    '*.security.istio.io',
    '*.telemetry.istio.io',
    '*.extensions.istio.io',
  ],
  'https://linkerd.io/2/reference/': ['*.policy.linkerd.io', '*.linkerd.io'],
  'https://docs.cilium.io/en/stable/': ['*.cilium.io'],
  'https://docs.tigera.io/calico/latest/reference/resources/': [
    '*.projectcalico.org',
    '*.crd.projectcalico.org',
  ],
  'https://metallb.io/apis/': ['*.metallb.io'],
  'https://doc.traefik.io/traefik/reference/routing-configuration/kubernetes/crd/': [
    '*.traefik.io',
    '*.traefik.containo.us',
  ],
  'https://developer.konghq.com/kubernetes-ingress-controller/reference/custom-resources/': [
    '*.configuration.konghq.com',
  ],
  'https://gateway.envoyproxy.io/docs/api/extension_types/': [
    '*.gateway.envoyproxy.io',
    '*.aigateway.envoyproxy.io',
  ],
  'https://kgateway.dev/docs/reference/api/': ['*.gateway.kgateway.dev', '*.agentgateway.dev'],
  'https://github.com/kubernetes-sigs/gateway-api-inference-extension': [
    '*.inference.networking.x-k8s.io',
    '*.inference.networking.k8s.io',
    '*.inference.x-k8s.io',
  ],
  'https://github.com/kubernetes-sigs/kube-agentic-networking': [
    '*.agentic.networking.k8s.io',
    '*.agentic.networking.x-k8s.io',
    '*.agentic.prototype.x-k8s.io',
  ],
  'https://gateway-api.sigs.k8s.io/reference/': [
    '*.gateway.networking.k8s.io',
    '*.gateway.networking.x-k8s.io',
  ],
  'https://github.com/k8snetworkplumbingwg/network-attachment-definition-client': ['*.k8s.cni.cncf.io'],
  'https://docs.openshift.com/container-platform/latest/rest_api/': [
    '*.route.openshift.io',
    '*.security.openshift.io',
    '*.project.openshift.io',
    '*.user.openshift.io',
    '*.oauth.openshift.io',
    '*.image.openshift.io',
    '*.config.openshift.io',
    '*.console.openshift.io',
    '*.machineconfiguration.openshift.io',
  ],
  // They run SPIRE itself, in the namespace of their operator.
  'https://docs.redhat.com/en/documentation/openshift_container_platform/4.20/html/security_and_compliance/zero-trust-workload-identity-manager':
    [
      'ZeroTrustWorkloadIdentityManager.operator.openshift.io',
      'SpireServer.operator.openshift.io',
      'SpireAgent.operator.openshift.io',
      'SpiffeCSIDriver.operator.openshift.io',
      'SpireOIDCDiscoveryProvider.operator.openshift.io',
    ],
  // Namespaces of tenants, with their quotas and rights. What a TenantResource copies is no row here.
  'https://projectcapsule.dev/docs/': ['Tenant.capsule.clastix.io'],
  'https://github.com/kubernetes-retired/hierarchical-namespaces/tree/master/api/v1alpha2': [
    'HierarchyConfiguration.hnc.x-k8s.io',
  ],
  // Clouds.
  'https://aws-controllers-k8s.github.io/community/docs/community/overview/': ['**.services.k8s.aws'],
  'https://cloud.google.com/config-connector/docs/reference/overview': ['**.cnrm.cloud.google.com'],
  'https://docs.upbound.io/providers/': ['**.aws.upbound.io', '**.gcp.upbound.io', '**.azure.upbound.io'],
  'https://cloud.google.com/kubernetes-engine/docs/reference/crds': [
    '*.networking.gke.io',
    '*.cloud.google.com',
  ],
  'https://karpenter.sh/docs/': ['*.karpenter.sh', '*.karpenter.k8s.aws', '*.karpenter.azure.com'],
  'https://kubernetes-sigs.github.io/aws-load-balancer-controller/latest/': [
    '*.elbv2.k8s.aws',
    '*.vpcresources.k8s.aws',
  ],
  // Delivery. What these deploy is looked at by their fields (plugin/src/sources/fetching.ts), and is no pod by itself.
  'https://fluxcd.io/flux/components/': [
    '*.source.toolkit.fluxcd.io',
    '*.kustomize.toolkit.fluxcd.io',
    '*.helm.toolkit.fluxcd.io',
    '*.notification.toolkit.fluxcd.io',
    '*.image.toolkit.fluxcd.io',
  ],
  'https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/': ['AppProject.argoproj.io'],
  'https://argo-rollouts.readthedocs.io/en/stable/features/specification/': [
    'Rollout.argoproj.io',
    'Experiment.argoproj.io',
    'AnalysisTemplate.argoproj.io',
    'ClusterAnalysisTemplate.argoproj.io',
    'AnalysisRun.argoproj.io',
  ],
  'https://argo-workflows.readthedocs.io/en/latest/fields/': [
    'WorkflowTemplate.argoproj.io',
    'ClusterWorkflowTemplate.argoproj.io',
  ],
  'https://docs.k3s.io/helm': ['*.helm.cattle.io'],
  'https://fleet.rancher.io/ref-crds': ['*.fleet.cattle.io'],
  'https://kueue.sigs.k8s.io/docs/reference/': ['*.kueue.x-k8s.io', '*.visibility.kueue.x-k8s.io'],
  // A Restore makes whatever was backed up.
  'https://velero.io/docs/main/api-types/': [
    'Backup.velero.io',
    'Schedule.velero.io',
    'BackupStorageLocation.velero.io',
    'VolumeSnapshotLocation.velero.io',
  ],
  'https://docs.dapr.io/reference/resource-specs/': ['*.dapr.io'],
  'https://strimzi.io/docs/operators/latest/configuring': [
    'KafkaTopic.kafka.strimzi.io',
    'KafkaUser.kafka.strimzi.io',
  ],
  'https://kuma.io/docs/latest/policies/introduction/': ['*.kuma.io'],
  'https://kubernetes-sigs.github.io/node-feature-discovery/stable/usage/custom-resources.html': [
    '*.nfd.k8s-sigs.io',
  ],
  // Configuration of tools, which no cluster takes.
  'https://kops.sigs.k8s.io/instance_groups/': ['InstanceGroup.kops.k8s.io', 'SSHCredential.kops.k8s.io'],
  'https://kind.sigs.k8s.io/docs/user/configuration/': ['*.kind.x-k8s.io'],
  'https://k3d.io/stable/usage/configfile/': ['*.k3d.io'],
  'https://eksctl.io/usage/schema/': ['*.eksctl.io'],
  'https://kuttl.dev/docs/testing/reference.html': ['*.kuttl.dev'],
  'https://kyverno.github.io/chainsaw/latest/reference/apis/chainsaw.v1alpha1/': ['*.chainsaw.kyverno.io'],
  'https://kyverno.io/docs/kyverno-cli/reference/kyverno_test/': ['*.cli.kyverno.io'],
  'https://sdk.operatorframework.io/docs/testing-operators/scorecard/': ['*.scorecard.operatorframework.io'],
  'https://backstage.io/docs/features/software-catalog/descriptor-format': [
    '*.backstage.io',
    '*.scaffolder.backstage.io',
  ],
  'https://docs.vllm.ai/projects/production-stack/en/latest/deployment/crd.html': [
    'LoraAdapter.production-stack.vllm.ai',
  ],
} as const satisfies Readonly<Record<string, readonly string[]>>

const KINDS: ReadonlySet<string> = new Set(Object.values(NO_PODS).flat())

/**
 * Whether it is known that nothing makes pods of an object of a kind: the kinds of Kubernetes' own groups that no reader knows are none of
 * its workloads, and those above.
 */
export function makesNoPods({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  const above = group.slice(group.indexOf('.') + 1)
  return (
    [`${kind}.${group}`, `*.${group}`, `**.${above}`].some((one) => KINDS.has(one)) || !group.includes('.')
  )
}
