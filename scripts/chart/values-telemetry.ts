// The values of the chart about metrics.
import {
  choice,
  labels,
  name,
  namespace,
  object,
  off,
  on,
  section,
  stringMap,
  text,
  texts,
  whole,
  type Values,
} from './setting.ts'

/** `/metrics`, and how it is scraped. */
export const TELEMETRY_VALUES: Values = {
  metrics: section('`/metrics`. No label of any metric holds a name, a namespace or a SPIFFE ID.', {
    enabled: on('Serve it.'),
    port: whole(8080, [1, 65_535], 'Its port.'),
    secure: section(
      'HTTPS, for those whom RBAC lets `get` the path `/metrics` (ClusterRole `kleym-metrics-reader`).',
      {
        enabled: off('Whether it is. Otherwise plain HTTP: restrict it with `networkPolicy`.'),
        certificateSecret: name(
          'Required with it: a Secret of type `kubernetes.io/tls` in the namespace of the release; cert-manager writes such.',
        ),
      },
    ),
    service: section('The Service of the metrics.', {
      enabled: on('Whether there is one.'),
      annotations: stringMap('Its annotations.'),
    }),
    monitor: section('What tells the Prometheus operator to scrape it.', {
      kind: choice('None', ['None', 'PodMonitor', 'ServiceMonitor'], 'Which object, if any.'),
      interval: text('30s', 'How often.'),
      labels: labels('Labels by which your Prometheus finds it.'),
      endpoint: object(
        'More of the endpoint, e.g. `tlsConfig` and `authorization`, which `metrics.secure` needs.',
      ),
    }),
    rules: section('A PrometheusRule with alerts: docs/monitoring.md.', {
      enabled: off('Whether there is one.'),
      labels: labels('Labels by which your Prometheus finds it.'),
      alertLabels: stringMap('More labels of every alert, e.g. the team that is told.'),
      runbookUrl: text(
        '',
        'Where your copy of docs/runbooks is served, e.g. `https://git.example.org/kleym/blob/main/docs/runbooks`; each alert ' +
          'then links to its page there.',
      ),
      disabled: texts('Alerts to leave out, by name.'),
    }),
    dashboard: section('A dashboard for Grafana, as a ConfigMap for its sidecar.', {
      enabled: off('Whether there is one.'),
      namespace: namespace('Where the sidecar looks; the namespace of the release when empty.'),
      labels: labels('Labels by which the sidecar finds it.', { grafana_dashboard: '1' }),
      annotations: stringMap('Its annotations, e.g. `grafana_folder`.'),
    }),
  }),
}
