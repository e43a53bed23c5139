// The values of the chart about metrics.
import { choice, object, off, on, section, stringMap, text, whole, type Values } from './setting.ts'

/** `/metrics`, and how it is scraped. */
export const TELEMETRY_VALUES: Values = {
  metrics: section('`/metrics`. No label of any metric holds a name, a namespace or a SPIFFE ID.', {
    enabled: on('Serve it.'),
    port: whole(8080, [1, 65_535], 'Its port.'),
    secure: section(
      'HTTPS, for those whom RBAC lets `get` the path `/metrics` (ClusterRole `kleym-metrics-reader`).',
      {
        enabled: off('Whether it is. Otherwise plain HTTP: restrict it with `networkPolicy`.'),
        certificateSecret: text(
          '',
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
      labels: stringMap('Labels by which your Prometheus finds it.'),
      endpoint: object(
        'More of the endpoint, e.g. `tlsConfig` and `authorization`, which `metrics.secure` needs.',
      ),
    }),
  }),
}
