// How much of what it is given kleym takes in. Files and clusters may be a stranger's, and a few megabytes of brackets can cost
// gigabytes and minutes: every limit is of something that costs, and ends the reading with a line that says which it was.
// What the worst inputs cost stands in docs/performance.md.

/** What is taken in at most. Real clusters of a hundred thousand pods stay below all of them. */
export const INPUT_LIMITS = {
  /** Bytes of all files together, of stdin and of what kustomize prints. */
  bytes: 256 * 1024 * 1024,
  /** Documents of all files together. */
  documents: 250_000,
  /**
   * Tokens of one YAML document that is not plain (flow style, anchors, characters beyond ASCII): the parser takes some 2 µs
   * and 800 bytes for each. A line `key: value` has six.
   */
  yamlTokens: 1_000_000,
  /** The same of all such documents together, with what aliases add. */
  allYamlTokens: 4_000_000,
  /** Values of all that is read together; a mapping or a list counts as four, which is what it takes in memory. */
  values: 20_000_000,
  /** Keys of one mapping in JSON. */
  keys: 100_000,
  /** Objects of the kinds that an answer uses, of all kinds together. */
  objects: 300_000,
  /** Bindings among them: an answer about one takes what a hundred pods take. */
  bindings: 20_000,
  /** Documents and objects that cannot be read; each is reported. */
  problems: 1_000,
} as const

/** What `charge` counts. */
export type Charged = 'bytes' | 'documents' | 'allYamlTokens' | 'values' | 'objects' | 'bindings'

/** After how many tokens what the parser has left behind is given back. */
const HEAVY_TOKENS = 500_000

/** How many values a mapping or a list counts as. */
export const CONTAINER_VALUES = 4

const NAMES: Readonly<Record<Charged, string>> = {
  bytes: 'bytes',
  documents: 'documents',
  allYamlTokens: 'tokens of YAML that is not plain',
  values: 'values',
  objects: 'objects',
  bindings: 'bindings',
}

/** A limit has been reached: whatever comes later is not read. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'
  readonly charged: Charged

  constructor(charged: Charged) {
    super(`more than ${INPUT_LIMITS[charged].toLocaleString('en')} ${NAMES[charged]}`)
    this.charged = charged
  }
}

/** What one run takes in. */
export class Budget {
  readonly #spent: Record<Charged, number> = {
    bytes: 0,
    documents: 0,
    allYamlTokens: 0,
    values: 0,
    objects: 0,
    bindings: 0,
  }
  readonly #collectGarbage: () => void
  readonly #onDocument: (count: number) => void
  #heavy = 0

  /**
   * `collectGarbage` is called once in a while: what parsing leaves behind is more than what it keeps. `onDocument` is called with the
   * number of documents at each.
   */
  constructor(
    collectGarbage: () => void = () => undefined,
    onDocument: (count: number) => void = () => undefined,
  ) {
    this.#collectGarbage = collectGarbage
    this.#onDocument = onDocument
  }

  /** Counts what is about to be taken in. Throws a BudgetSpent where it is more than kleym takes. */
  charge(charged: Charged, amount: number): void {
    const spent = this.tryCharge(charged, amount)
    if (spent !== undefined) throw spent
  }

  /** The same, told rather than thrown. */
  tryCharge(charged: Charged, amount: number): BudgetSpent | undefined {
    this.#spent[charged] += amount
    if (charged === 'documents') this.#onDocument(this.#spent.documents)
    if (charged === 'allYamlTokens') this.#heavy += amount
    if (this.#heavy > HEAVY_TOKENS) {
      this.#heavy = 0
      this.#collectGarbage()
    }
    return this.#spent[charged] > INPUT_LIMITS[charged] ? new BudgetSpent(charged) : undefined
  }
}
