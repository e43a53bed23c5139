{{/* The operator's flags, from the values. The trust domain and the class are always there: kubectl kleym reads them. */}}
{{- define "kleym.args" -}}
- {{ printf "--trust-domain=%s" .Values.trustDomain | quote }}
- {{ printf "--clusterspiffeid-class-name=%s" .Values.className | quote }}
{{- range .Values.takeOver }}
- {{ printf "--take-over=%s" . | quote }}
{{- end }}
{{- if .Values.classlessIgnored }}
- --classless-ignored
{{- end }}
{{- range $key, $value := .Values.outputLabels }}
- {{ printf "--output-label=%s=%s" $key $value | quote }}
{{- end }}
- {{ printf "--variant-label-key=%s" .Values.variantLabelKey | quote }}
- {{ printf "--workers=%d" (int .Values.workers) | quote }}
- {{ printf "--writes-per-second=%d" (int .Values.writesPerSecond) | quote }}
- {{ printf "--bindings-per-namespace=%d" (int .Values.bindingsPerNamespace) | quote }}
- {{ printf "--resync-period=%s" .Values.resyncPeriod | quote }}
- {{ printf "--log-level=%s" .Values.logLevel | quote }}
- {{ printf "--leader-elect=%t" .Values.leaderElection.enabled | quote }}
- {{ printf "--health-probe-bind-address=:%d" (int .Values.probes.port) | quote }}
{{- with .Values.metrics }}
{{- if .enabled }}
- {{ printf "--metrics-bind-address=:%d" (int .port) | quote }}
{{- else }}
- --metrics-bind-address=0
{{- end }}
{{- if .secure.enabled }}
- --metrics-secure=true
- --metrics-tls-cert-file=/etc/kleym/metrics/tls.crt
- --metrics-tls-key-file=/etc/kleym/metrics/tls.key
{{- end }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}
