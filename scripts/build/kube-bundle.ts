// Keeps what kleym does not use of @kubernetes/client-node out of a bundle: its generated API and undici, which are
// most of its size and start-up time. `shared/src/kube` takes KubeConfig alone from it, and has a transport of its own.
import type { Plugin } from 'esbuild'

const LIBRARY = /[/\\]@kubernetes[/\\]client-node[/\\]dist[/\\]/

/** What KubeConfig imports of the generated API is used by makeApiClient alone, which kleym never calls. */
const NO_GENERATED_API = [
  'const none = () => { throw new Error("the generated API is not in this bundle") }',
  'export const createConfiguration = none',
  'export const ServerConfiguration = none',
  'export const of = none',
].join('\n')

/** undici is used by applySecurityAuthentication alone, which kleym never calls; nor are SOCKS proxies or WebSockets. */
const NO_TRANSPORT = [
  'const none = class { constructor() { throw new Error("this transport is not in this bundle") } }',
  'export const Agent = none, ProxyAgent = none, SocksProxyAgent = none, SocksClient = none',
  'export const HttpProxyAgent = none, HttpsProxyAgent = none',
].join('\n')

/** `shared/src/kube/context-cluster.ts` refuses these auth providers, as kubectl does. */
const NO_CLOUD_AUTH = [
  'const none = class { isAuthProvider() { return false } }',
  'export const AzureAuth = none, GoogleCloudPlatformAuth = none',
].join('\n')

/** The kubeconfig is given to the library as JSON. */
const JSON_FOR_YAML = 'export const load = JSON.parse'

const STUBS: Readonly<Record<string, string>> = {
  'generated-api': NO_GENERATED_API,
  transport: NO_TRANSPORT,
  'cloud-auth': NO_CLOUD_AUTH,
  yaml: JSON_FOR_YAML,
}

/** An esbuild plugin for every program that imports `shared/src/kube/kubeconfig.ts`. */
export const kubeBundle: Plugin = {
  name: 'kube-bundle',
  setup(build) {
    build.onResolve({ filter: /^@kubernetes\/client-node$/ }, ({ importer, resolveDir }) =>
      // KubeConfig alone, without the index that pulls in everything.
      build.resolve('@kubernetes/client-node/dist/config.js', {
        kind: 'import-statement',
        importer,
        resolveDir,
      }),
    )
    const stub = (filter: RegExp, path: string): void => {
      build.onResolve({ filter }, ({ importer }) =>
        LIBRARY.test(importer) ? { path, namespace: 'kube-bundle' } : undefined,
      )
    }
    stub(/^\.\/gen\//, 'generated-api')
    stub(/^(?:undici|socks|socks-proxy-agent|hpagent)$/, 'transport')
    stub(/^\.\/(?:azure|gcp)_auth\.js$/, 'cloud-auth')
    stub(/^js-yaml$/, 'yaml')
    build.onLoad({ filter: /.*/, namespace: 'kube-bundle' }, ({ path }) => ({
      contents: STUBS[path] ?? '',
      loader: 'js',
    }))
  },
}
