{{/*
What the schema cannot say in a sentence: each refusal names the value, what is wrong with it, and how to put it right.
*/}}
{{- define "kleym.check" }}
{{- include "kleym.check.identity" . }}
{{- include "kleym.check.takeOver" . }}
{{- include "kleym.check.outputLabels" . }}
{{- include "kleym.check.variantLabelKey" . }}
{{- include "kleym.check.image" . }}
{{- include "kleym.check.operator" . }}
{{- include "kleym.check.labels" . }}
{{- include "kleym.check.resourceQuotas" . }}
{{- include "kleym.check.metrics" . }}
{{- include "kleym.check.cluster" . }}
{{- end }}

{{- define "kleym.check.identity" }}
{{- $domain := .Values.trustDomain }}
{{- $such := "a name such as example.org: no scheme, no slash, no blanks, lower case" }}
{{- if eq $domain "" }}
{{- fail (printf "trustDomain: is not set, and there is no identity without one; set it to the trust domain of your SPIRE server, %s (--set trustDomain=example.org)" $such) }}
{{- else if gt (len $domain) 255 }}
{{- fail (printf "trustDomain: is %d characters long, and 255 is the most that SPIFFE allows; give %s" (len $domain) $such) }}
{{- else if not (regexMatch "^[a-z0-9._-]+$" $domain) }}
{{- fail (printf "trustDomain: %q is no trust domain, which holds a-z, 0-9, \".\", \"_\" and \"-\"; give %s" $domain $such) }}
{{- end }}
{{- $class := .Values.className }}
{{- if ne (trim $class) $class }}
{{- fail (printf "className: %q begins or ends with a blank, and no SPIRE controller manager has such a class; remove it" $class) }}
{{- else if regexMatch "[[:cntrl:]]" $class }}
{{- fail (printf "className: %q holds a control character, and no SPIRE controller manager has such a class; remove it" $class) }}
{{- end }}
{{- end }}

{{- define "kleym.check.takeOver" }}
{{- range .Values.takeOver }}
{{- $name := splitList "/" . | last }}
{{- if or (not (regexMatch "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$" .)) (gt (len $name) 253) }}
{{- fail (printf "takeOver: %q is no install; give namespace and name of its Lease, such as kleym-system/kleym-operator" .) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A key of a label, as Kubernetes has it. Its prefix has at most 253 characters, which a pattern does not count. */}}
{{- define "kleym.labelKey" -}}
^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$
{{- end }}

{{- define "kleym.check.outputLabels" }}
{{- range $key, $value := .Values.outputLabels }}
{{- if or (hasPrefix "kleym.sonda.red/" $key) (eq $key "spire.spiffe.io/class-name") }}
{{- fail (printf "outputLabels: %s is set by kleym itself; leave it out" $key) }}
{{- else if or (not (regexMatch (include "kleym.labelKey" $) $key)) (gt (splitList "/" $key | first | len) 253) }}
{{- fail (printf "outputLabels: %q is no label key; give one such as example.org/team" $key) }}
{{- else if not (regexMatch "^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$" $value) }}
{{- fail (printf "outputLabels: %q, the value of %s, is no label value; give at most 63 letters, digits, dashes, dots and underscores" $value $key) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "kleym.check.variantLabelKey" }}
{{- $key := .Values.variantLabelKey }}
{{- if gt (len $key) 243 }}
{{- fail (printf "variantLabelKey: is %d characters long, which leaves no room for a value in SPIRE's selectors: 243 is the most; choose another label" (len $key)) }}
{{- else if not (regexMatch (include "kleym.labelKey" .) $key) }}
{{- fail (printf "variantLabelKey: %q is no label key; give that of the pod label which tells variants apart, such as llm-d.ai/role" $key) }}
{{- end }}
{{- end }}

{{/* What stands between two slashes of the name of an image. */}}
{{- define "kleym.imagePart" -}}
[a-z0-9]+([._-]+[a-z0-9]+)*
{{- end }}

{{- define "kleym.check.image" }}
{{- with .Values.image }}
{{- if eq .registry "set-your-registry.invalid" }}
{{- fail "image.registry: is not set, and this chart comes with no image; the chart of a release names its own. Set it to the registry that you have pushed the operator's image to (--set image.registry=registry.example.org/platform), or to nothing for an image that the nodes have already (--set image.registry=)" }}
{{- else if eq .repository "" }}
{{- fail "image.repository: is empty, so there is nothing to run; give the name of the operator's image" }}
{{- else if not (regexMatch (printf "^(([A-Za-z0-9.-]+|\\[[0-9A-Fa-f:]+\\])(:[0-9]+)?(/%s)*)?$" (include "kleym.imagePart" $)) .registry) }}
{{- fail (printf "image.registry: %q is no registry; give its name and the folder in it, without a scheme, such as registry.example.org/platform" .registry) }}
{{- else if not (regexMatch (printf "^%[1]s(/%[1]s)*$" (include "kleym.imagePart" $)) .repository) }}
{{- fail (printf "image.repository: %q is no name of an image; give one in lower case, such as kleym-operator" .repository) }}
{{- else if eq .tag "latest" }}
{{- fail "image.tag: \"latest\" is not one version, and an upgrade or a restart could bring another one; give a version, or leave it empty for that of the chart" }}
{{- else if not (regexMatch "^([A-Za-z0-9_][A-Za-z0-9._-]{0,127})?$" .tag) }}
{{- fail (printf "image.tag: %q is no tag of an image; give a version such as %s" .tag $.Chart.AppVersion) }}
{{- else if not (regexMatch "^(sha256:[0-9a-f]{64})?$" .digest) }}
{{- fail (printf "image.digest: %q is no digest; give sha256: and 64 hex digits" .digest) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "kleym.check.operator" }}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) }}
{{- fail (printf "replicas: %d operators without leader election would all write; set leaderElection.enabled=true, or replicas=1" (int .Values.replicas)) }}
{{- end }}
{{- $stay := int .Values.podDisruptionBudget.minAvailable }}
{{- if and .Values.podDisruptionBudget.enabled (gt (int .Values.replicas) 1) (ge $stay (int .Values.replicas)) }}
{{- fail (printf "podDisruptionBudget.minAvailable: %d of %d operators must stay, so no node of theirs could be drained; give less than replicas" $stay (int .Values.replicas)) }}
{{- end }}
{{- $such := "give one such as 10h, 30m or 1h30m, or 0 for never" }}
{{- if not (regexMatch "^(0|([0-9]{1,9}([.][0-9]{1,9})?(ms|s|m|h))+)$" .Values.resyncPeriod) }}
{{- fail (printf "resyncPeriod: %q is no period; %s" .Values.resyncPeriod $such) }}
{{- end }}
{{- $ms := 0.0 }}
{{- range regexFindAll "[0-9.]+[a-z]+" .Values.resyncPeriod -1 }}
{{- $unit := get (dict "ms" 1.0 "s" 1e3 "m" 6e4 "h" 36e5) (regexFind "[a-z]+" .) }}
{{- $ms = addf $ms (mulf (regexFind "[0-9.]+" . | float64) $unit) }}
{{- end }}
{{- if and (gt $ms 0.0) (or (lt $ms 100.0) (gt $ms 2073600000.0)) }}
{{- fail (printf "resyncPeriod: %q is no period from 100ms to 576h; %s" .Values.resyncPeriod $such) }}
{{- end }}
{{- if and (not .Values.serviceAccount.create) (eq .Values.serviceAccount.name "") }}
{{- fail "serviceAccount.name: is empty although serviceAccount.create is false, so no service account is set for the operator; give the name of one that exists" }}
{{- end }}
{{- if eq (int .Values.probes.port) (int .Values.metrics.port) }}
{{- fail (printf "probes.port: is %d, as is metrics.port, and both cannot listen there; give two ports" (int .Values.probes.port)) }}
{{- end }}
{{- $values := dict
  "--trust-domain" "trustDomain"
  "--clusterspiffeid-class-name" "className"
  "--take-over" "takeOver"
  "--classless-ignored" "classlessIgnored"
  "--output-label" "outputLabels"
  "--variant-label-key" "variantLabelKey"
  "--workers" "workers"
  "--writes-per-second" "writesPerSecond"
  "--bindings-per-namespace" "bindingsPerNamespace"
  "--resync-period" "resyncPeriod"
  "--leader-elect" "leaderElection.enabled"
  "--leader-election-namespace" "the namespace of the release"
  "--leader-election-lease-name" "nothing: the roles name it"
  "--health-probe-bind-address" "probes.port"
  "--metrics-bind-address" "metrics.port"
  "--metrics-secure" "metrics.secure.enabled"
  "--metrics-tls-cert-file" "metrics.secure.certificateSecret"
  "--metrics-tls-key-file" "metrics.secure.certificateSecret"
  "--check" "helm test"
  "--log-level" "logLevel" }}
{{- range .Values.extraArgs }}
{{- $flag := . | splitList "=" | first }}
{{- with get $values $flag }}
{{- fail (printf "extraArgs: %s is set by the chart, and the last of two would win; use %s instead" $flag .) }}
{{- end }}
{{- if not (regexMatch "^--(kubeconfig|context)=." .) }}
{{- fail (printf "extraArgs: %q is no flag that the chart leaves to you, and the operator would end at once; give --kubeconfig=FILE or --context=NAME" .) }}
{{- end }}
{{- end }}
{{- end }}

{{- define "kleym.check.labels" }}
{{- range $value := list "commonLabels" "podLabels" }}
{{- range $key, $_ := get $.Values $value | default dict }}
{{- if has $key (list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" "app.kubernetes.io/managed-by") }}
{{- fail (printf "%s: %s is how Helm, the chart and kubectl kleym find their objects; leave it out" $value $key) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "kleym.check.resourceQuotas" }}
{{- $seen := list }}
{{- range .Values.resourceQuotas }}
{{- if has .namespace $seen }}
{{- fail (printf "resourceQuotas: namespace %s is listed twice, and one quota would replace the other; leave one of them out" .namespace) }}
{{- end }}
{{- $seen = append $seen .namespace }}
{{- end }}
{{- end }}

{{- define "kleym.check.metrics" }}
{{- with .Values.metrics }}
{{- if and .secure.enabled (not .enabled) }}
{{- fail "metrics.secure.enabled: there are no metrics to protect; set metrics.enabled=true, or metrics.secure.enabled=false" }}
{{- end }}
{{- if and .secure.enabled (eq .secure.certificateSecret "") }}
{{- fail "metrics.secure.certificateSecret: is empty, and there is no HTTPS without a certificate; give the name of a Secret of type kubernetes.io/tls" }}
{{- end }}
{{- if and (ne .monitor.kind "None") (not .enabled) }}
{{- fail (printf "metrics.monitor.kind: a %s would scrape metrics that the operator does not serve; set metrics.enabled=true, or metrics.monitor.kind=None" .monitor.kind) }}
{{- end }}
{{- if and (eq .monitor.kind "ServiceMonitor") (not .service.enabled) }}
{{- fail "metrics.monitor.kind: a ServiceMonitor finds the operator through a Service, and there is none; set metrics.service.enabled=true, or metrics.monitor.kind=PodMonitor" }}
{{- end }}
{{- range $what := list "rules" "dashboard" }}
{{- if and (get (get $.Values.metrics $what) "enabled") (not $.Values.metrics.enabled) }}
{{- fail (printf "metrics.%s.enabled: the operator does not serve the metrics that it reads; set metrics.enabled=true, or metrics.%s.enabled=false" $what $what) }}
{{- end }}
{{- end }}
{{- $alerts := list }}
{{- range ($.Files.Get "files/alerts.yaml" | fromYaml).groups }}
{{- range .rules }}
{{- $alerts = append $alerts .alert }}
{{- end }}
{{- end }}
{{- range .rules.disabled }}
{{- if not (has . $alerts) }}
{{- fail (printf "metrics.rules.disabled: the chart has no alert %q; it has %s" . (join ", " $alerts)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* What only a real cluster can say; `helm template` sees none of it. */}}
{{- define "kleym.check.cluster" }}
{{- with lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" "inferenceidentitybindings.kleym.sonda.red" }}
{{- $annotations := .metadata.annotations | default dict }}
{{- $isOurs := and (eq (get $annotations "meta.helm.sh/release-name") $.Release.Name) (eq (get $annotations "meta.helm.sh/release-namespace") $.Release.Namespace) }}
{{- if and $isOurs (not $.Values.crds.enabled) (ne (get $annotations "helm.sh/resource-policy") "keep") }}
{{- fail "crds.enabled: the CRD is part of this release and is not kept, so that this upgrade would delete it with all bindings; upgrade with crds.keep=true first" }}
{{- end }}
{{- range .spec.versions }}
{{- $spec := dig "schema" "openAPIV3Schema" "properties" "spec" "properties" (dict) . }}
{{- $status := dig "schema" "openAPIV3Schema" "properties" "status" "properties" (dict) . }}
{{- if or (and $spec (not (hasKey $spec "mode"))) (and $status (not (hasKey $status "clusterSPIFFEID"))) }}
{{- fail (printf "the CRD %s of this cluster is that of the Go implementation of the same API group (it lacks spec.mode or status.clusterSPIFFEID), and two operators would fight over the same objects: delete its bindings while its operator runs, then that operator and the CRD; docs/upstream.md has the order" "inferenceidentitybindings.kleym.sonda.red") }}
{{- end }}
{{- end }}
{{- end }}
{{- with lookup "rbac.authorization.k8s.io/v1" "ClusterRole" "" "kleym-operator" }}
{{- $annotations := .metadata.annotations | default dict }}
{{- $name := get $annotations "meta.helm.sh/release-name" }}
{{- $namespace := get $annotations "meta.helm.sh/release-namespace" }}
{{- if and $name (or (ne $name $.Release.Name) (ne $namespace $.Release.Namespace)) }}
{{- fail (printf "kleym is installed already, as release %s in namespace %s, and two would fight over the same objects: there is one per cluster; upgrade that release, or uninstall it first" $name $namespace) }}
{{- end }}
{{- end }}
{{- $connected := lookup "v1" "Namespace" "" "kube-system" }}
{{- if and .Values.policies.poolPods.enabled $connected }}
{{- range (include "kleym.poolGroups" . | fromJson).items }}
{{- if not (lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" (printf "inferencepools.%s" .)) }}
{{- fail (printf "policies.poolPods.kinds: the cluster has no InferencePool of %s, and a policy about a missing kind refuses every pod; install its CRD first, or leave the group out" .) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
