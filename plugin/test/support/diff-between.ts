// `diff` between two desired states, each of one file, with kleym's settings given.
import { inProcess, type Ran } from './in-process.ts'
import { workspace } from './workspace.ts'

/** Runs it; `className` is that of kleym, and `flags` stand before the sides. */
export async function diffBetween(
  base: string,
  head: string,
  {
    flags = ['-A'],
    className = '',
  }: { readonly flags?: readonly string[]; readonly className?: string } = {},
): Promise<Ran> {
  const cwd = await workspace({ 'base/all.yaml': base, 'head/all.yaml': head })
  const settings = ['--trust-domain', 'example.org', '--clusterspiffeid-class-name', className]
  return inProcess(['diff', '--offline', ...settings, ...flags, '--base', 'base', '-f', 'head'], cwd)
}
