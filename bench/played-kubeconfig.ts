// A kubeconfig for an API server that is played on this machine: nobody has to log in.

/** As JSON, which kubectl and kleym read as YAML. */
export function playedKubeconfig(port: number): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'played', cluster: { server: `http://127.0.0.1:${port}` } }],
    users: [{ name: 'nobody', user: {} }],
    contexts: [{ name: 'played', context: { cluster: 'played', user: 'nobody' } }],
    'current-context': 'played',
  })
}
