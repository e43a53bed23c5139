{{/*
The SPIRE controller managers of the cluster, as JSON: {"items": [{workload, config, className, state, labels, trustDomain}]}.
`state` is what each does with an output of this release: `acts`, `ignores`, `unseen` (only because a label is missing) or `unknown`. They are found as `kubectl kleym status`
finds them (shared/src/core/install/scm-container.ts): by the image or the name of a container, and the ConfigMap that it mounts.
Helm fails where it may not list what it looks up. A user who may make the roles for people may list all of this.
*/}}
{{- define "kleym.scms" -}}
{{- $found := list }}
{{- if and .Values.rbac.people .Values.notes.findControllerManager }}
{{- range $kind := list "StatefulSet" "Deployment" }}
{{- range $workload := (lookup "apps/v1" $kind "" "").items }}
{{- range $container := $workload.spec.template.spec.containers }}
{{- $image := $container.image | default "" | splitList "@" | first | splitList "/" | last }}
{{- if or (hasPrefix "spire-controller-manager" $image) (hasPrefix "spire-controller-manager" $container.name) }}
{{- $found = concat $found (include "kleym.scms.of" (dict "root" $ "kind" $kind "workload" $workload "container" $container) | fromJson).items }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "items" $found | toJson }}
{{- end }}

{{/* A mapping as JSON, and anything else as an empty one: any user may write a ConfigMap, and none may stop an install. */}}
{{- define "kleym.scms.mapping" -}}
{{- kindIs "map" . | ternary . dict | toJson }}
{{- end }}

{{/* `acts`, or `unseen` where it sees only objects with labels that no output of this release has. */}}
{{- define "kleym.scms.sees" -}}
{{- $classLabel := "spire.spiffe.io/class-name" }}
{{- $labels := merge (dict "kleym.sonda.red/managed-by" "kleym") (.root.Values.outputLabels | default dict) }}
{{- if regexMatch "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$" .root.Values.className }}
{{- $_ := set $labels $classLabel .root.Values.className }}
{{- end }}
{{- $filters := eq (toString .config.filterByClassName) "true" }}
{{- $sees := or (not $filters) (hasKey $labels $classLabel) }}
{{- range $key, $value := include "kleym.scms.mapping" .config.clusterSPIFFEIDLabelSelector | fromJson }}
{{- if and (ne (get $labels $key) (toString $value)) (not (and $filters (eq $key $classLabel))) }}
{{- $sees = false }}
{{- end }}
{{- end }}
{{- ternary "acts" "unseen" $sees }}
{{- end }}

{{/* Those of one container: one, or none where its configuration is not in a ConfigMap, or another cluster's. */}}
{{- define "kleym.scms.of" -}}
{{- $found := list }}
{{- $args := concat (.container.command | default list) (.container.args | default list) }}
{{- $file := "" }}
{{- $isForOtherCluster := false }}
{{- range $at, $arg := $args }}
{{- if regexMatch "^--?kubeconfig(=|$)" $arg }}
{{- $isForOtherCluster = true }}
{{- else if regexMatch "^--?config=" $arg }}
{{- $file = regexReplaceAll "^--?config=" $arg "" | base }}
{{- else if and (regexMatch "^--?config$" $arg) (lt (add1 $at) (len $args)) }}
{{- $file = index $args (add1 $at) | base }}
{{- end }}
{{- end }}
{{- $mounted := list }}
{{- range $mount := .container.volumeMounts }}
{{- range $volume := $.workload.spec.template.spec.volumes }}
{{- if and (eq $volume.name $mount.name) $volume.configMap }}
{{- $mounted = append $mounted $volume.configMap.name }}
{{- end }}
{{- end }}
{{- end }}
{{- $namespace := .workload.metadata.namespace }}
{{- if and $mounted (not $isForOtherCluster) }}
{{- range $map := (lookup "v1" "ConfigMap" $namespace "").items }}
{{- if has $map.metadata.name $mounted }}
{{- $data := $map.data | default dict }}
{{- range $key, $text := $data }}
{{- if and (contains "ControllerManagerConfig" $text) (or (eq $key $file) (not (hasKey $data $file))) }}
{{- $config := fromYaml $text }}
{{- if eq (toString $config.kind) "ControllerManagerConfig" }}
{{- $class := $config.className | default "" | toString }}
{{- $ours := $.root.Values.className }}
{{- $kinds := include "kleym.scms.mapping" $config.reconcile | fromJson }}
{{- $reconciles := or (not $config.reconcile) (eq (toString $kinds.clusterSPIFFEIDs) "true") }}
{{- $state := "ignores" }}
{{- if regexMatch "[$]([{]|[A-Za-z_])" $class }}
{{- $state = "unknown" }}
{{- else if and $reconciles (or (eq $class $ours) (and (eq $ours "") (eq (toString $config.watchClassless) "true"))) }}
{{- $state = include "kleym.scms.sees" (dict "root" $.root "config" $config) }}
{{- end }}
{{- $found = append $found (dict
  "workload" (printf "%s %s/%s" $.kind $namespace $.workload.metadata.name)
  "config" (printf "ConfigMap %s/%s" $namespace $map.metadata.name)
  "className" $class
  "state" $state
  "labels" ($config.clusterSPIFFEIDLabelSelector | default dict)
  "trustDomain" ($config.trustDomain | default "" | toString)) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- dict "items" $found | toJson }}
{{- end }}
