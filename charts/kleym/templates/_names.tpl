{{/* Names, labels and the image. Cluster-scoped objects have fixed names, so that Helm refuses a second release. */}}

{{/* What all pods of the release have, and what those of the operator have. */}}
{{- define "kleym.releaseLabels" -}}
app.kubernetes.io/name: kleym
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "kleym.selectorLabels" -}}
{{ include "kleym.releaseLabels" . }}
app.kubernetes.io/component: operator
{{- end }}

{{/* Every object of the chart: a dict with `root` and `component`. */}}
{{- define "kleym.labels" -}}
{{- $own := dict
  "app.kubernetes.io/name" "kleym"
  "app.kubernetes.io/instance" .root.Release.Name
  "app.kubernetes.io/component" .component
  "app.kubernetes.io/version" .root.Chart.AppVersion
  "app.kubernetes.io/part-of" "kleym"
  "app.kubernetes.io/managed-by" .root.Release.Service
  "helm.sh/chart" (printf "%s-%s" .root.Chart.Name (replace "+" "_" .root.Chart.Version)) }}
{{- toYaml (merge (deepCopy (.root.Values.commonLabels | default dict)) $own) }}
{{- end }}

{{- define "kleym.serviceAccountName" -}}
{{ .Values.serviceAccount.name | default "kleym-operator" }}
{{- end }}

{{- define "kleym.image" -}}
{{- with .Values.image }}
{{- $name := empty .registry | ternary .repository (printf "%s/%s" .registry .repository) }}
{{- empty .digest | ternary (printf "%s:%s" $name (.tag | default $.Chart.AppVersion)) (printf "%s@%s" $name .digest) }}
{{- end }}
{{- end }}

{{/* A namespaceSelector of a policy; an empty one says nothing, as the API server's default does. */}}
{{- define "kleym.namespaceSelector" -}}
{{- with . }}
namespaceSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
The groups of the pools that policies.poolPods is about, as {"items": [...]}: those of its `kinds`, else each that the cluster
serves. A render without a cluster knows none, and takes the one of GA.
*/}}
{{- define "kleym.poolGroups" -}}
{{- $groups := .Values.policies.poolPods.kinds }}
{{- if not $groups }}
{{- range $group, $version := dict "inference.networking.k8s.io" "v1" "inference.networking.x-k8s.io" "v1alpha2" }}
{{- if $.Capabilities.APIVersions.Has (printf "%s/%s/InferencePool" $group $version) }}
{{- $groups = append $groups $group }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "items" ($groups | default (list "inference.networking.k8s.io")) | toJson }}
{{- end }}
