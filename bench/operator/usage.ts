// What a process has used so far, from Linux's /proc: the programs that are measured are not our children.
import { readFileSync } from 'node:fs'

/** Clock ticks per second in /proc: 100 on every Linux that Node runs on (`getconf CLK_TCK`). */
const TICKS = 100

export interface Usage {
  /** CPU seconds, user and system, of all threads. */
  readonly cpu: number
  /** The most resident memory so far, in bytes. */
  readonly peak: number
  /** Resident memory now that belongs to no file (the program's own text is one), in bytes. */
  readonly anonymous: number
}

/** Throws where there is no such process, and on systems other than Linux. */
export function usageOf(pid: number): Usage {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name in parentheses may hold blanks; user and system time are the 12th and 13th field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const kib = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1])
  return {
    cpu: (Number(fields[11]) + Number(fields[12])) / TICKS,
    peak: kib('VmHWM') * 1024,
    anonymous: kib('RssAnon') * 1024,
  }
}

/** The one of some processes that runs a program of this name. */
export function processNamed(pids: readonly number[], name: string): number {
  const found = pids.find((pid) => readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name)
  if (found === undefined) throw new Error(`none of the processes ${pids.join(', ')} is ${name}`)
  return found
}
