// Draws the mermaid blocks of a page. The library is a file of the site, and is fetched by pages that have such a block.

interface Mermaid {
  initialize(options: Readonly<Record<string, unknown>>): void
  render(id: string, text: string): Promise<{ readonly svg: string }>
}

declare global {
  // A script of its own, which leaves its name there.
  var mermaid: Mermaid | undefined
}

let loading: Promise<Mermaid> | undefined
let count = 0

/** Draws all blocks of the page, again where the colours have changed. A block that cannot be drawn keeps its text. */
export async function drawDiagrams(library: string, isDark: boolean): Promise<void> {
  const blocks = [...document.querySelectorAll<HTMLElement>('.diagram')]
  const [first] = blocks
  if (first === undefined) return
  loading ??= load(library)
  const mermaid = await loading
  mermaid.initialize({
    startOnLoad: false,
    // As large as it is drawn: style.css makes it fit the page, as far as it stays legible.
    flowchart: { useMaxWidth: false },
    sequence: { useMaxWidth: false, wrap: true, width: 100, actorMargin: 8 },
    securityLevel: 'strict',
    theme: isDark ? 'dark' : 'neutral',
    fontFamily: getComputedStyle(first).fontFamily,
  })
  for (const block of blocks) {
    block.dataset['text'] ??= block.textContent
    const { svg } = await mermaid.render(`diagram-${count++}`, block.dataset['text'])
    block.innerHTML = svg
    const width = block.querySelector('svg')?.width.baseVal.value ?? 0
    block.style.setProperty('--diagram-width', `${width}px`)
    block.dataset['drawn'] = isDark ? 'dark' : 'light'
  }
}

function load(address: string): Promise<Mermaid> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = address
    script.addEventListener('load', () => {
      if (globalThis.mermaid === undefined) reject(new Error(`${address} is not mermaid`))
      else resolve(globalThis.mermaid)
    })
    script.addEventListener('error', () => reject(new Error(`${address} could not be fetched`)))
    document.head.append(script)
  })
}
