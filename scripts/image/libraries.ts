// The shared libraries that an executable is started with, and the Debian packages that they come from.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { BuildError } from '../build/build-error.ts'

/** A package of the system that the image is assembled on. */
export interface SystemPackage {
  /** e.g. `libc6`. */
  readonly name: string
  readonly version: string
  /** https://github.com/package-url/purl-spec */
  readonly purl: string
  /** The path of its copyright file. */
  readonly copyright: string
}

const DEBIAN = 'assemble the image on Debian or Ubuntu, or by scripts/image/Dockerfile'

/** Where the loader finds each library, and the loader itself, as absolute paths in order. Throws where one is missing. */
export function librariesOf(executable: string): readonly string[] {
  // ldd runs the loader of the file: safe, because the file is our own.
  const said = run('ldd', [executable])
  const missing = /^\s*(\S+) => not found/m.exec(said)?.[1]
  if (missing !== undefined)
    throw new BuildError('the image cannot be assembled', {
      why: `${executable} needs ${missing}, which is not installed`,
      fix: `install ${missing}`,
    })
  // `libm.so.6 => /lib/.../libm.so.6 (0x...)`, and the loader without an arrow; the kernel's own page has no path.
  return [...said.matchAll(/(?:^|=> )\s*(\/\S+) \(0x/gm)].map(([, path = '']) => path).toSorted()
}

/** The packages that the files belong to, by name. */
export function systemPackagesOf(paths: readonly string[]): readonly SystemPackage[] {
  const names = new Set(paths.map(packageOf))
  const distribution = /^ID=(\S+)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'debian'
  return [...names].toSorted().map((name) => {
    const [version = '', architecture = ''] = run('dpkg-query', [
      '--show',
      '--showformat=${Version} ${Architecture}',
      name,
    ]).split(' ')
    const short = name.replace(/:.*/, '')
    return {
      name: short,
      version,
      purl: `pkg:deb/${distribution}/${short}@${encodeURIComponent(version)}?arch=${architecture}`,
      copyright: join('/usr/share/doc', short, 'copyright'),
    }
  })
}

/** dpkg knows a file by the path that its package has, which may be before or after /lib became a link to /usr/lib. */
function packageOf(path: string): string {
  const real = realpathSync(path)
  const candidates = [path, real, `/usr${path}`, real.replace(/^\/usr/, '')].filter((one) => existsSync(one))
  for (const candidate of candidates) {
    const { status, stdout } = spawnSync('dpkg-query', ['--search', candidate], { encoding: 'utf8' })
    const name = status === 0 ? /^(\S+): /.exec(stdout)?.[1] : undefined
    if (name !== undefined) return name
  }
  throw new BuildError('the image cannot be assembled', {
    why: `no package of this system owns ${path}, so its version and licence are not known`,
    fix: DEBIAN,
  })
}

function run(program: string, args: readonly string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { LC_ALL: 'C', PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
  })
  if (status === 0) return stdout
  throw new BuildError('the image cannot be assembled', {
    why: `${program} failed: ${stderr?.trim() || error?.message || `exit code ${status}`}`,
    fix: DEBIAN,
  })
}
