// Paths of files, as the kernel reads them.

/** `/a/../b/` as the kernel reads it: `/b`. */
export function withoutDots(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return `/${parts.join('/')}`
}

/** The same for a path of a node, on which `/var/run` is a link to `/run`. */
export function nodePath(path: string): string {
  return withoutDots(path).replace(/^\/var\/run(?=\/|$)/, '/run')
}

/** Whether a path of a node is another, or stands in it. */
export function isWithin(path: string, folder: string): boolean {
  const whole = nodePath(folder)
  return whole === '/' || `${nodePath(path)}/`.startsWith(`${whole}/`)
}
