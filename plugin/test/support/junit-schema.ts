// Holds a JUnit document against the schema of Jenkins' xUnit plugin
// (https://github.com/jenkinsci/xunit-plugin, src/main/resources/org/jenkinsci/plugins/xunit/types/model/xsd/junit-10.xsd), written
// down here for the elements that we print: no package brings it along.
import { parseXml, type Element } from './xml.ts'

/** What an element may hold. */
interface ElementRule {
  readonly required: readonly string[]
  readonly optional: readonly string[]
  /** The elements in it, in any order and number. */
  readonly children: readonly string[]
  /** Whether there may be text beside them. */
  readonly isMixed: boolean
}

const OUTCOME: ElementRule = { required: [], optional: ['type', 'message'], children: [], isMixed: true }

const RULES: Readonly<Record<string, ElementRule>> = {
  testsuites: {
    required: [],
    optional: ['name', 'time', 'tests', 'failures', 'errors'],
    children: ['testsuite'],
    isMixed: false,
  },
  testsuite: {
    required: ['name', 'tests', 'failures', 'errors'],
    optional: ['time', 'skipped', 'timestamp', 'hostname', 'id', 'package', 'file', 'group'],
    children: ['properties', 'testcase'],
    isMixed: false,
  },
  properties: { required: [], optional: [], children: ['property'], isMixed: false },
  property: { required: ['name', 'value'], optional: [], children: [], isMixed: false },
  testcase: {
    required: ['name'],
    optional: ['time', 'classname', 'group'],
    children: ['skipped', 'error', 'failure'],
    isMixed: false,
  },
  skipped: OUTCOME,
  error: OUTCOME,
  failure: OUTCOME,
}

/** The type of a time: digits, with commas between thousands and a fraction. */
const TIME = /^(?:\d{1,3}(?:,\d{3})*|\d*)(?:\.\d*)?$/

/** What is wrong with a document, a sentence each; throws where it is no XML. */
export function junitProblems(document: string): readonly string[] {
  const root = parseXml(document)
  return root.name === 'testsuites' ? problemsOf(root, '') : [`the root is ${root.name}`]
}

function problemsOf({ name, attributes, children, text }: Element, above: string): readonly string[] {
  const path = `${above}/${name}`
  const rule = RULES[name]
  if (rule === undefined) return [`${path}: no such element`]
  const { required, optional, children: allowed, isMixed } = rule
  return [
    ...required.filter((key) => !Object.hasOwn(attributes, key)).map((key) => `${path}: no ${key}`),
    ...Object.keys(attributes)
      .filter((key) => ![...required, ...optional].includes(key))
      .map((key) => `${path}: no attribute ${key} is allowed`),
    ...(TIME.test(attributes['time'] ?? '0') ? [] : [`${path}: ${attributes['time']} is no time`]),
    ...(isMixed || text.trim() === '' ? [] : [`${path}: it may hold no text`]),
    ...children
      .filter((child) => !allowed.includes(child.name))
      .map((child) => `${path}: ${child.name} may not be in it`),
    ...children.flatMap((child) => problemsOf(child, path)),
  ]
}
