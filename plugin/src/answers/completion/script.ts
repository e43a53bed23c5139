// The executable that kubectl runs for completions of `kubectl kleym`, as a script: it has to have a name of its own,
// and krew makes one link per plugin (kubernetes-sigs/krew#812). A link of that name to kubectl-kleym does as well.
// https://github.com/kubernetes/kubectl/blob/v0.37.1/pkg/cmd/plugin/plugin_completion.go
import { COMPLETE } from '../../io/completion-request.ts'

/** The line by which kleym recognizes a script that it has written. */
export const MARK = 'Completion of kubectl kleym; written by `kubectl kleym completion`.'

/** kubectl-kleym is found by PATH at each run, so that an upgrade needs nothing; without it, nothing is said. */
const FOR_SH = `#!/bin/sh
# ${MARK}
exec kubectl-kleym ${COMPLETE} "$@" 2>/dev/null
`

const FOR_WINDOWS = `@rem ${MARK}\r\n@kubectl-kleym ${COMPLETE} %* 2>nul\r\n`

/** A script and the file name under which kubectl looks for it. */
export interface CompletionScript {
  readonly name: string
  readonly text: string
}

/** The script for this system; Windows says who it is in its environment. */
export function completionScript(env: Readonly<Record<string, string | undefined>>): CompletionScript {
  return env['OS'] === 'Windows_NT'
    ? { name: 'kubectl_complete-kleym.cmd', text: FOR_WINDOWS }
    : { name: 'kubectl_complete-kleym', text: FOR_SH }
}
