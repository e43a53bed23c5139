// How much of what it is given kleym takes in. Files and clusters may be a stranger's, and a few megabytes of brackets can cost
// gigabytes and minutes: every limit is of something that costs, and ends the reading with a line that says which it was.
// What the worst inputs cost stands in docs/performance.md.

/** What is taken in at most. Real clusters of a hundred thousand pods stay below all of them. */
export const INPUT_LIMITS = {
  /** Bytes of all files together, of stdin and of what kustomize prints. */
  bytes: 256 * 1024 * 1024,
  /** Documents of all files together. */
  documents: 250_000,
  /** Lines, commas and opening brackets of one YAML document: each begins two values at most, which take 200 bytes while it is read. */
  yamlTokens: 1_000_000,
  /** Values of all that is read together; a mapping or a list counts as four, which is what it takes in memory, and so does each that an alias adds. */
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
export type Charged = 'bytes' | 'documents' | 'values' | 'objects' | 'bindings'

/** How many values a mapping or a list counts as. */
export const CONTAINER_VALUES = 4

/** A limit has been reached: whatever comes later is not read. */
export class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent'

  constructor(charged: Charged) {
    super(`more than ${INPUT_LIMITS[charged].toLocaleString('en')} ${charged}`)
  }
}

/** What one run takes in. */
export class Budget {
  readonly #spent = { bytes: 0, documents: 0, values: 0, objects: 0, bindings: 0 }
  readonly #onDocument: (count: number) => void

  /** `onDocument` is called with the number of documents at each. */
  constructor(onDocument: (count: number) => void = () => undefined) {
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
    return this.#spent[charged] > INPUT_LIMITS[charged] ? new BudgetSpent(charged) : undefined
  }
}
