{{/* Names, labels and the image. Cluster-scoped objects have fixed names, so that Helm refuses a second release. */}}

{{/* What all pods of the release have, and what those of the operator have. */}}
{{- define "kleym.releaseLabels" -}}
app.kubernetes.io/name: kleym
app.kubernetes.io/instance: {{ .Release.Name }}
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
{{- toYaml (merge (deepCopy .root.Values.commonLabels) $own) }}
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
