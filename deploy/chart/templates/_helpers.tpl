{{/* The beginning of every name. A Service's has at most 63 characters. */}}
{{- define "labops.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels that select the pods of this release: of one component, if `component` is given. */}}
{{- define "labops.selector" -}}
app.kubernetes.io/name: lab-operations
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end }}

{{- define "labops.metadata" -}}
name: {{ include "labops.name" .root }}{{ with .component }}-{{ . }}{{ end }}
labels:
  {{- include "labops.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "labops.image" -}}
{{- with .Values.image }}
{{- .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* All that the values lack or contradict, as one list: an installation that fails three times for three values costs three. */}}
{{- define "labops.check" -}}
{{- $faults := list }}
{{- $worker := .Values.worker.settings }}
{{- if not .Values.image.repository }}
{{- $faults = append $faults "image.repository is missing: set the image that you have built (docs/operations.md#versions-and-image)" }}
{{- end }}
{{- if not .Values.settings.LABOPS_INSTALLATION }}
{{- $faults = append $faults "settings.LABOPS_INSTALLATION is missing: set a name that no other installation on your account at the lab service has" }}
{{- end }}
{{- if and $worker.SERVICE_BASE_URL $worker.SERVICE_ENVIRONMENT }}
{{- $faults = append $faults "worker.settings has SERVICE_BASE_URL and SERVICE_ENVIRONMENT: remove one of them" }}
{{- else if not (or $worker.SERVICE_BASE_URL $worker.SERVICE_ENVIRONMENT) }}
{{- $faults = append $faults "worker.settings.SERVICE_BASE_URL is missing: set it, or SERVICE_ENVIRONMENT with serviceDescription" }}
{{- end }}
{{- if and $worker.SERVICE_ENVIRONMENT (not .Values.serviceDescription) }}
{{- $faults = append $faults "serviceDescription is missing, but worker.settings has SERVICE_ENVIRONMENT: --set-file serviceDescription=<file>" }}
{{- end }}
{{- if and .Values.serviceDescription (hasKey (fromJson .Values.serviceDescription) "Error") }}
{{- $faults = append $faults "serviceDescription is not a JSON object: --set-file serviceDescription=<file>" }}
{{- end }}
{{- if and .Values.notifications.enabled (not $worker.NOTIFY_URL) }}
{{- $faults = append $faults "worker.settings.NOTIFY_URL is missing: set it, or notifications.enabled=false" }}
{{- end }}
{{- if and $worker.NOTIFY_URL (not .Values.notifications.enabled) }}
{{- $faults = append $faults "worker.settings.NOTIFY_URL is set, but notifications.enabled is false: remove one of them" }}
{{- end }}
{{- if and .Values.codecServer.enabled (not .Values.codecServer.settings.CODEC_ALLOWED_ORIGINS) }}
{{- $faults = append $faults "codecServer.settings.CODEC_ALLOWED_ORIGINS is missing: set the Web UI's address without a path, or codecServer.enabled=false" }}
{{- end }}
{{- if and .Values.audit.enabled (not .Values.healthData.enabled) }}
{{- $faults = append $faults "audit.enabled needs the database: set healthData.enabled=true" }}
{{- end }}
{{- if and .Values.autoscaling.enabled .Values.workerVersioning.enabled }}
{{- $faults = append $faults "autoscaling.enabled does not scale the versions of workerVersioning: set one of them to false" }}
{{- end }}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) }}
{{- $faults = append $faults "autoscaling.minReplicas is larger than autoscaling.maxReplicas" }}
{{- end }}
{{- if $faults }}
{{- fail (printf "\n- %s" (join "\n- " $faults)) }}
{{- end }}
{{- end }}

{{/* One variable. JSON writes 10485760 as it is, where a template would write 1.048576e+07. */}}
{{- define "labops.variable" -}}
- name: {{ .name }}
  value: {{ if kindIs "string" .value }}{{ .value | quote }}{{ else }}{{ .value | toJson | quote }}{{ end }}
{{- end }}

{{/*
The secrets that a program gets, by setting, as JSON: without those of what is switched off.
`root`, `component`, and the program's `values`
*/}}
{{- define "labops.secrets" -}}
{{- $shared := ternary .root.Values.secrets dict (has .component (list "worker" "ingress")) }}
{{- $secrets := merge dict (.values.secrets | default dict) ($shared | default dict) }}
{{- $off := list }}
{{- with .root.Values }}
{{- if not .notifications.enabled }}{{ $off = append $off "NOTIFY_SECRET" }}{{ end }}
{{- /* The controller gives the worker the key of its Connection. */}}
{{- if and .workerVersioning.enabled (eq $.component "worker") }}{{ $off = append $off "TEMPORAL_API_KEY" }}{{ end }}
{{- if not .healthData.enabled }}{{ $off = concat $off (list "DATABASE_URL" "DELETED_USERS_KEYS") }}{{ end }}
{{- if not .audit.enabled }}{{ $off = append $off "AUDIT_KEYS" }}{{ end }}
{{- if and (not .audit.enabled) (eq $.component "codec-server") }}{{ $off = append $off "DATABASE_URL" }}{{ end }}
{{- end }}
{{- range $off }}{{ $_ := unset $secrets . }}{{ end }}
{{- toJson $secrets }}
{{- end }}

{{/*
The template of a program's pods. Settings are in it, not in a ConfigMap, so a changed one rolls out, and pods of an earlier release keep theirs.
`root`, `component`, `program` (its file), `values`, `settings` (those that the chart sets), `ports`, `restartPolicy` of a Job
*/}}
{{- define "labops.template" -}}
{{- $root := .root }}
{{- $follows := has .component (list "worker" "ingress") }}
{{- $settings := mergeOverwrite dict (ternary $root.Values.settings dict $follows) (.values.settings | default dict) .settings }}
{{- if and (eq .component "worker") $root.Values.workerVersioning.enabled }}
{{- /* The controller sets these from the Connection and the WorkerDeployment. */}}
{{- $settings = omit $settings "TEMPORAL_ADDRESS" "TEMPORAL_NAMESPACE" }}
{{- end }}
{{- $description := and $follows $root.Values.serviceDescription }}
{{- $grace := $settings.SHUTDOWN_GRACE_SECONDS | default (add 5 ($settings.SERVICE_TIMEOUT_SECONDS | default (ternary 30 15 (eq .component "worker")))) -}}
metadata:
  labels:
    {{- include "labops.selector" . | nindent 4 }}
    {{- with $root.Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if or $root.Values.podAnnotations $description }}
  annotations:
    {{- with $root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with $description }}
    lab-operations/service-description: {{ . | quote }}
    {{- end }}
  {{- end }}
spec:
  {{- with .restartPolicy }}
  restartPolicy: {{ . }}
  {{- end }}
  automountServiceAccountToken: false
  # The variables of a Service named ingress would be settings of ours, such as INGRESS_PORT.
  enableServiceLinks: false
  {{- if .ports }}
  # The process exits at most eight seconds after its grace; the ingress answers for a while before that.
  terminationGracePeriodSeconds: {{ add $grace 10 ($settings.INGRESS_DRAIN_SECONDS | default 0) }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "labops.selector" . | nindent 10 }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile:
      type: RuntimeDefault
  {{- with $root.Values.pod }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ include "labops.image" $root | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      command: [node, dist/workers/{{ .program }}.js{{ with .argument }}, {{ . }}{{ end }}]
      env:
        {{- range $name, $value := $settings }}
        {{- if ne (toString $value) "" }}
        {{- include "labops.variable" (dict "name" $name "value" $value) | nindent 8 }}
        {{- end }}
        {{- end }}
        {{- if $description }}
        - name: SERVICE_DESCRIPTION
          value: /etc/lab-operations/service-description.json
        {{- end }}
        {{- range $setting, $_ := include "labops.secrets" . | fromJson }}
        - name: {{ $setting }}_FILE
          value: /run/secrets/lab-operations/{{ $setting }}
        {{- end }}
        {{- with $root.Values.env }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with .ports }}
      ports:
        {{- range $name, $port := . }}
        - name: {{ $name }}
          containerPort: {{ $port }}
        {{- end }}
      # At the port of the metrics: at another one strangers' connections could keep a probe out.
      startupProbe:
        httpGet:
          path: /health
          port: metrics
        periodSeconds: 2
        failureThreshold: 30
      livenessProbe:
        httpGet:
          path: /health
          port: metrics
        periodSeconds: 10
        timeoutSeconds: 5
      readinessProbe:
        httpGet:
          path: /ready
          port: metrics
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 2
      {{- end }}
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities:
          drop: [ALL]
      volumeMounts:
        - name: secrets
          mountPath: /run/secrets/lab-operations
          readOnly: true
        - name: tmp
          mountPath: /tmp
        {{- if $description }}
        - name: service-description
          mountPath: /etc/lab-operations
          readOnly: true
        {{- end }}
        {{- with .values.volumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    - name: secrets
      projected:
        # 0440
        defaultMode: 288
        sources:
          {{- range $setting, $secret := include "labops.secrets" . | fromJson }}
          - secret:
              name: {{ $secret.name }}
              items:
                - key: {{ $secret.key | default $setting }}
                  path: {{ $setting }}
          {{- end }}
    - name: tmp
      emptyDir:
        sizeLimit: 64Mi
    {{- if $description }}
    # From the pod's annotation, so it changes with the pod.
    - name: service-description
      downwardAPI:
        items:
          - path: service-description.json
            fieldRef:
              fieldPath: metadata.annotations['lab-operations/service-description']
    {{- end }}
    {{- with .values.volumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{/* The beginning of a Deployment's spec. `root`, `component` */}}
{{- define "labops.deployment" -}}
selector:
  matchLabels:
    {{- include "labops.selector" . | nindent 4 }}
strategy:
  rollingUpdate:
    maxUnavailable: 0
    maxSurge: 1
{{- end }}

{{/* `root`, `component` */}}
{{- define "labops.budget" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "labops.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  # While Temporal is away no pod is ready: that must not hold up a drain of the node.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "labops.selector" . | nindent 6 }}
{{- end }}

{{/* The Service at port 80 of a program's port `http`. `root`, `component` */}}
{{- define "labops.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "labops.metadata" . | nindent 2 }}
spec:
  selector:
    {{- include "labops.selector" . | nindent 4 }}
  ports:
    - name: http
      port: 80
      targetPort: http
{{- end }}
