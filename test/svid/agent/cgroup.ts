// Processes that look like containers: the agent reads /proc/<pid>/cgroup, so a process in the cgroup of a container is that
// container to it. It needs root and a cgroup file system that can be written to, version 1 or 2; no container engine.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** The hierarchies that are tried: one of version 1, and those of version 2, alone or beside version 1. */
const HIERARCHIES: readonly { readonly version: 1 | 2; readonly root: string; readonly has: string }[] = [
  { version: 1, root: '/sys/fs/cgroup/pids', has: 'cgroup.procs' },
  { version: 2, root: '/sys/fs/cgroup', has: 'cgroup.controllers' },
  { version: 2, root: '/sys/fs/cgroup/unified', has: 'cgroup.controllers' },
]

/** Where containers can be made. */
export interface CgroupPlace {
  readonly available: true
  readonly version: 1 | 2
  readonly root: string
}

/** They cannot, and why. */
export interface NoCgroup {
  readonly available: false
  readonly why: string
  readonly fix: string
}

/** Looks for a hierarchy in which this process may make cgroups; of the version that `KLEYM_CGROUP` asks for, where it does. */
export function cgroupPlace(): CgroupPlace | NoCgroup {
  const fix = 'run it as root where /sys/fs/cgroup can be written to: sudo npm run test:agent'
  if (process.platform !== 'linux')
    return { available: false, why: 'there are no cgroups on this system', fix }
  if (process.getuid?.() !== 0) return { available: false, why: 'this user is not root', fix }
  const wanted = process.env['KLEYM_CGROUP']
  const place = cgroupPlaces().find(({ version }) => wanted === undefined || String(version) === wanted)
  if (place !== undefined) return place
  const which = wanted === undefined ? '' : ` of version ${wanted} (KLEYM_CGROUP)`
  return { available: false, why: `no cgroup hierarchy${which} can be written to`, fix }
}

/** The same; throws where there is none. */
export function requireCgroups(): CgroupPlace {
  const place = cgroupPlace()
  if (place.available) return place
  throw new Error(`${place.why}\n  fix:  ${place.fix}`)
}

/** Every hierarchy in which this process may make cgroups. A process can be in one cgroup of each. */
export function cgroupPlaces(): readonly CgroupPlace[] {
  return HIERARCHIES.filter(({ root, has }) => {
    if (!existsSync(join(root, has))) return false
    const probe = join(root, `kleym-probe-${process.pid}`)
    try {
      mkdirSync(probe)
      rmdirSync(probe)
      return true
    } catch {
      return false
    }
  }).map(({ version, root }) => ({ available: true, version, root }))
}

/** The cgroups of one suite, as a kubelet lays them out. */
export class ContainerCgroups {
  readonly #base: string

  constructor({ root }: CgroupPlace) {
    this.#base = join(root, 'kubepods')
  }

  /** Makes the cgroup of a container; the file into which a process that is to be in it writes its PID. */
  place(podUid: string, containerId: string): string {
    const folder = join(this.#pod(podUid), containerId)
    mkdirSync(folder, { recursive: true })
    return join(folder, 'cgroup.procs')
  }

  /** Kills every process in the cgroups of these pods. The kernel may take a moment to let go of them. */
  kill(podUids: Iterable<string>): void {
    for (const container of this.#containersOf(podUids))
      for (const pid of readFileSync(join(container, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean))
        killIfThere(Number(pid))
  }

  /** Removes the cgroups of these pods; no process may be in them. */
  remove(podUids: Iterable<string>): void {
    const uids = new Set(podUids)
    for (const container of this.#containersOf(uids)) rmdirSync(container)
    for (const uid of uids) if (existsSync(this.#pod(uid))) rmdirSync(this.#pod(uid))
    // Another run may have pods there.
    if (
      existsSync(this.#base) &&
      !readdirSync(this.#base, { withFileTypes: true }).some((one) => one.isDirectory())
    )
      rmdirSync(this.#base)
  }

  #pod(uid: string): string {
    return join(this.#base, `pod${uid}`)
  }

  #containersOf(podUids: Iterable<string>): readonly string[] {
    return [...podUids]
      .map((uid) => this.#pod(uid))
      .filter((pod) => existsSync(pod))
      .flatMap((pod) =>
        readdirSync(pod, { withFileTypes: true })
          .filter((one) => one.isDirectory())
          .map(({ name }) => join(pod, name)),
      )
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended in the meantime.
  }
}
