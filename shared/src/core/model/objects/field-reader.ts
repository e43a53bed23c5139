// Typed fields of one mapping, as Go decodes them: null counts as absent, and each wrong type is reported.
import { isRecord, own, typeName, type JsonRecord } from '../../base/json.ts'

/** Reads the fields of a mapping. A field is undefined where it is absent or of another type. */
export class FieldReader {
  readonly #record: JsonRecord
  readonly #path: string
  readonly #problem: (text: string) => void

  /** `path` stands before the name of a field in a problem: `.spec.`. */
  constructor(record: JsonRecord, path: string, problem: (text: string) => void) {
    this.#record = record
    this.#path = path
    this.#problem = problem
  }

  /** A string as written, an empty one too. */
  text(name: string): string | undefined {
    const value = this.value(name)
    if (value === undefined || typeof value === 'string') return value
    return this.#wrong(name, value, 'a string')
  }

  /** False where it is absent or of another type. */
  flag(name: string): boolean {
    const value = this.value(name)
    if (typeof value === 'boolean') return value
    if (value !== undefined) this.#wrong(name, value, 'true or false')
    return false
  }

  /** The strings of a list. */
  texts(name: string): readonly string[] | undefined {
    const value = this.value(name)
    if (value === undefined) return undefined
    if (!Array.isArray(value)) return this.#wrong(name, value, 'a list')
    return value.flatMap((item, at) =>
      typeof item === 'string' ? [item] : (this.#wrong(`${name}[${at}]`, item, 'a string') ?? []),
    )
  }

  mapping(name: string): JsonRecord | undefined {
    const value = this.value(name)
    if (value === undefined || isRecord(value)) return value
    return this.#wrong(name, value, 'a mapping')
  }

  /** What stands there, of any type. */
  value(name: string): unknown {
    return own(this.#record, name) ?? undefined
  }

  #wrong(name: string, value: unknown, wanted: string): undefined {
    this.#problem(`${this.#path}${name} is ${typeName(value)}, not ${wanted}`)
    return undefined
  }
}
