// What one value of the chart is: what it means, its default, and which JSON it may hold.

/** JSON, as it stands in values.yaml. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
/** A JSON schema of draft 7, which is what Helm reads. */
export type Schema = { readonly [key: string]: Json }

/** One value. */
export interface Setting {
  readonly about: string
  readonly default: Json
  /** Of its shape alone; what needs a sentence is checked by the templates (`_check.tpl`). */
  readonly schema: Schema
}

/** Values that belong together, under one key. */
export interface Section {
  readonly about: string
  readonly values: Values
}

/** By key, in the order in which they are written. */
export type Values = { readonly [key: string]: Setting | Section }

export function isSection(value: Setting | Section): value is Section {
  return 'values' in value
}

export function section(about: string, values: Values): Section {
  return { about, values }
}

export function text(fallback: string, about: string): Setting {
  return { about, default: fallback, schema: { type: 'string' } }
}

/** Part of a name between its dots, as RFC 1123 has it. */
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
/** What begins and ends with a letter or a digit. */
const WORD = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?'

/** The name of a namespace. */
export const NAMESPACE: Schema = { type: 'string', pattern: `^${LABEL}$`, maxLength: 63 }

/** The name of an object, such as `team-a.kleym`; empty by default. */
export function name(about: string): Setting {
  return {
    about,
    default: '',
    schema: { type: 'string', pattern: `^(${LABEL}([.]${LABEL})*)?$`, maxLength: 253 },
  }
}

/** The name of a namespace; empty by default. */
export function namespace(about: string): Setting {
  return { about, default: '', schema: { ...NAMESPACE, pattern: `^(${LABEL})?$` } }
}

export function choice(fallback: string, choices: readonly string[], about: string): Setting {
  return { about, default: fallback, schema: { type: 'string', enum: choices } }
}

export function on(about: string): Setting {
  return { about, default: true, schema: { type: 'boolean' } }
}

export function off(about: string): Setting {
  return { about, default: false, schema: { type: 'boolean' } }
}

/** A whole number within limits, both among them. */
export function whole(
  fallback: number,
  [minimum, maximum]: readonly [number, number],
  about: string,
): Setting {
  return { about, default: fallback, schema: { type: 'integer', minimum, maximum } }
}

/** A list of Kubernetes' own objects, which the API server checks. */
export function objects(about: string, fallback: readonly Json[] = []): Setting {
  return { about, default: fallback, schema: { type: 'array', items: { type: 'object' } } }
}

export function texts(about: string, fallback: readonly string[] = []): Setting {
  return { about, default: fallback, schema: { type: 'array', items: { type: 'string', minLength: 1 } } }
}

/** Labels, as Kubernetes takes them, which also limits the prefix of a key. */
export function labels(about: string, fallback: { readonly [key: string]: string } = {}): Setting {
  const schema = {
    type: 'object',
    patternProperties: {
      [`^(${LABEL}([.]${LABEL})*/)?${WORD}$`]: { type: 'string', pattern: `^(${WORD})?$` },
    },
    additionalProperties: false,
  }
  return { about, default: fallback, schema }
}

/** Annotations, and other texts by key. */
export function stringMap(about: string, fallback: { readonly [key: string]: string } = {}): Setting {
  return { about, default: fallback, schema: { type: 'object', additionalProperties: { type: 'string' } } }
}

/** One of Kubernetes' own objects, which the API server checks. */
export function object(about: string, fallback: { readonly [key: string]: Json } = {}): Setting {
  return { about, default: fallback, schema: { type: 'object' } }
}

/** A list of objects of ours: every field is a text or a number, and all are required. */
export function records(about: string, fields: { readonly [key: string]: Schema }): Setting {
  const required = Object.keys(fields)
  const item = { type: 'object', additionalProperties: false, required, properties: fields }
  return { about, default: [], schema: { type: 'array', items: item } }
}
