// What a person types next, once everything of `npm run control-plane` runs. Commands stand alone on lines that begin with
// two spaces and a dollar sign: a test takes them from there.

/** What the text needs to know. */
export interface Started {
  readonly kubeconfig: string
  /** The folder with kubectl and the plugin. */
  readonly bin: string
  /** A folder for files, which goes with the control plane. */
  readonly folder: string
  /** The process of SCM, which people may stop. */
  readonly scmPid: number
  /** Whether containers can fetch SVIDs. */
  readonly hasAgents: boolean
}

/** The commands to try, in an order that makes a walk. */
export function nextSteps({ kubeconfig, bin, folder, scmPid, hasAgents }: Started): string {
  const server = 'kubectl exec -n spire-server spire-server-0 -c spire-server -- spire-server'
  return `
In another terminal, in this folder:

  $ export KUBECONFIG=${kubeconfig}
  $ export PATH=${bin}:$PATH
  $ export SCM_PID=${scmPid}
  $ export FILES=${folder}

Who gets which identity, and a binding of your own:

  $ kubectl kleym status
  $ kubectl apply -f examples/quick-start/model-server.yaml
  $ kubectl apply -f examples/quick-start/binding.yaml
  $ kubectl kleym explain demo/chat
  $ kubectl kleym who-selects deployment/llama -n demo
${hasAgents ? processSteps() : ''}
Does the server agree? What SCM has made, and what kleym says that it makes:

  $ ${server} entry show -output json > $FILES/entries.json
  $ ${server} entry show -output json | kubectl kleym verify --entries -

To see a difference, stop SCM, change something, verify again, and let it go on:

  $ kill -STOP $SCM_PID
  $ kubectl delete iib chat -n demo
  $ ${server} entry show -output json | kubectl kleym verify --entries -
  $ kill -CONT $SCM_PID

docs/try-it.md has the whole walk. The logs: kubectl logs -n spire-server spire-server-0 -c spire-controller-manager${hasAgents ? ', kubectl logs -n spire-system -l app.kubernetes.io/name=agent' : ''}.
`
}

function processSteps(): string {
  return `
No container runs, but a process can stand in one: kubectl exec places it in the cgroup of that container, and the agent of
the node takes it for the container. What it gets over the Workload API:

  $ kubectl exec -n demo deployment/llama -- spire-agent api fetch x509
`
}
