// The arguments of `migrate`: names of ClusterSPIFFEIDs, as NAME, clusterspiffeid/NAME or clusterspiffeid NAME.
import { withArticle } from '@kleym/shared/core/base/text/counted.ts'
import { CLUSTER_SPIFFE_ID_KIND } from '@kleym/shared/core/model/names.ts'
import { wrongUsage } from '../../io/errors.ts'
import { parseObjectName, withKindWord } from '../../sources/kind-name.ts'

/** The names that are asked about; undefined: all. Throws a usage error where neither a name nor `-A` is given. */
export function parseRegistrations(words: readonly string[], isAll: boolean): readonly string[] | undefined {
  if (words.length > 0) return withKindWord(words).map(nameIn)
  if (isAll) return undefined
  throw wrongUsage('migrate', {
    what: 'no ClusterSPIFFEID is named',
    why: 'migrate shows how one becomes bindings',
    fix: "name it: kubectl kleym migrate clusterspiffeid/NAME, or write -A for all that are not kleym's",
  })
}

function nameIn(text: string): string {
  if (!text.includes('/')) return text
  const { kind, name } = parseObjectName(text, 'the argument')
  if (kind === CLUSTER_SPIFFE_ID_KIND) return name
  throw wrongUsage('migrate', {
    what: `${withArticle(kind)} is no registration that becomes bindings`,
    where: text,
    why: 'migrate asks about ClusterSPIFFEIDs',
    fix: 'write clusterspiffeid/NAME',
  })
}
