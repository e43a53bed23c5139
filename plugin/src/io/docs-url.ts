// Where the docs of this build are published, where the build was told: `KLEYM_DOCS_URL=https://... npm run build`.

/** Set by the bundler; not there when the sources run. */
declare const KLEYM_DOCS_URL: string | undefined

/** The address of the page of a finding code; undefined where no address was configured. */
export function pageUrl(code: string, base = configured()): string | undefined {
  return base === '' ? undefined : `${base.replace(/\/+$/, '')}/findings/${code}.md`
}

/** A sentence of kleym's own in which `docs/identity-tests.md` is the address of that page, where one was configured. */
export function withPageUrls(text: string, base = configured()): string {
  return base === ''
    ? text
    : text.replaceAll(/(?<![\w/.-])docs\/(?=[\w/-]+\.md\b)/g, `${base.replace(/\/+$/, '')}/`)
}

/** Text for a terminal in which codes and addresses of pages are links (OSC 8). Text from elsewhere never is one. */
export function withLinks(text: string, base = configured()): string {
  if (base === '') return text
  const address = RegExp.escape(base.replace(/\/+$/, ''))
  return text.replaceAll(new RegExp(`${address}/[\\w/.#-]*\\w|\\bKLM\\d{3}\\b`, 'g'), (found) => {
    const url = found.startsWith('KLM') ? pageUrl(found, base) : found
    return `\u001b]8;;${url}\u001b\\${found}\u001b]8;;\u001b\\`
  })
}

function configured(): string {
  return typeof KLEYM_DOCS_URL === 'string' ? KLEYM_DOCS_URL : ''
}
