{{/*
The pod of the operator, and of the check that everything it needs is there: a dict with `root` and `check`. Both are
fetched, admitted, placed and run alike.
*/}}
{{- define "kleym.podSpec" -}}
{{- with .root -}}
serviceAccountName: {{ include "kleym.serviceAccountName" . | quote }}
automountServiceAccountToken: {{ .Values.serviceAccount.automount }}
enableServiceLinks: false
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- $context := .Values.podSecurityContext | default dict }}
{{- with .Values.openshift | ternary (omit $context "runAsUser" "runAsGroup" "fsGroup") $context }}
securityContext:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- if $.check }}
restartPolicy: Never
{{- else }}
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
{{- end }}
containers:
  - name: operator
    image: {{ include "kleym.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    args:
      {{- include "kleym.args" . | nindent 6 }}
      {{- if $.check }}
      - --check
      {{- end }}
    env:
      - name: POD_NAME
        valueFrom:
          fieldRef:
            fieldPath: metadata.name
      - name: POD_NAMESPACE
        valueFrom:
          fieldRef:
            fieldPath: metadata.namespace
      {{- with .Values.extraEnv }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- if not $.check }}
    ports:
      - name: probes
        containerPort: {{ .Values.probes.port }}
        protocol: TCP
      {{- if .Values.metrics.enabled }}
      - name: metrics
        containerPort: {{ .Values.metrics.port }}
        protocol: TCP
      {{- end }}
    livenessProbe:
      {{- toYaml (merge (dict "httpGet" (dict "path" "/healthz" "port" "probes")) (.Values.probes.liveness | default dict)) | nindent 6 }}
    readinessProbe:
      {{- toYaml (merge (dict "httpGet" (dict "path" "/readyz" "port" "probes")) (.Values.probes.readiness | default dict)) | nindent 6 }}
    {{- end }}
    {{- with .Values.resources }}
    resources:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .Values.securityContext }}
    securityContext:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- if or .Values.metrics.secure.enabled .Values.extraVolumeMounts }}
    volumeMounts:
      {{- if .Values.metrics.secure.enabled }}
      - name: metrics-certificate
        mountPath: /etc/kleym/metrics
        readOnly: true
      {{- end }}
      {{- with .Values.extraVolumeMounts }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
    {{- end }}
{{- if or .Values.metrics.secure.enabled .Values.extraVolumes }}
volumes:
  {{- if .Values.metrics.secure.enabled }}
  - name: metrics-certificate
    secret:
      secretName: {{ .Values.metrics.secure.certificateSecret | quote }}
      defaultMode: 0440
  {{- end }}
  {{- with .Values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if not $.check }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- else }}
{{- if gt (int .Values.replicas) 1 }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "kleym.selectorLabels" . | nindent 14 }}
{{- end }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- range . }}
  {{- $own := dict "labelSelector" (dict "matchLabels" (include "kleym.selectorLabels" $.root | fromYaml)) }}
  - {{ hasKey . "labelSelector" | ternary . (merge $own .) | toYaml | nindent 4 | trim }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}
