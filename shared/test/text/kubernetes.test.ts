import { describe, expect, test } from 'vitest'
import {
  isDns1123Label,
  isDns1123Subdomain,
  labelValueProblem,
  qualifiedNameProblem,
} from '../../src/core/base/text/kubernetes.ts'
import { disagreements, textAt } from '../go/vectors.ts'

describe('names as apimachinery takes them', () => {
  test('label keys', () => {
    const differing = disagreements('label-keys.jsonl', (row) => [
      row[0],
      qualifiedNameProblem(textAt(row, 0)) === undefined,
    ])
    expect(differing).toEqual([])
  })

  test('label values', () => {
    const differing = disagreements('label-values.jsonl', (row) => [
      row[0],
      labelValueProblem(textAt(row, 0)) === undefined,
    ])
    expect(differing).toEqual([])
  })

  test('DNS-1123 labels and subdomains', () => {
    const differing = disagreements('dns1123.jsonl', (row) => [
      row[0],
      isDns1123Label(textAt(row, 0)),
      isDns1123Subdomain(textAt(row, 0)),
    ])
    expect(differing).toEqual([])
  })
})

describe('what is wrong is said', () => {
  test.each([
    ['a/b/c', 'has more than one slash'],
    ['/b', 'has nothing before its slash'],
    ['A/b', 'has a prefix that is no lower-case DNS name'],
    [`${'a'.repeat(254)}/b`, 'has a prefix over 253 characters'],
    ['a/', 'has an empty name'],
    ['a'.repeat(64), 'has a name over 63 characters'],
    ['a b', 'has " " at character 2; only letters, digits, "-", "_" and "." are allowed there'],
    ['-a', 'does not start with a letter or digit'],
    ['a-', 'does not end with a letter or digit'],
  ])('the key %j %s', (key, problem) => {
    expect(qualifiedNameProblem(key)).toBe(problem)
  })

  test.each([
    ['x'.repeat(64), 'is over 63 characters'],
    ['a\u202eb', 'has "\u202e" at character 2; only letters, digits, "-", "_" and "." are allowed there'],
    ['.a', 'does not start with a letter or digit'],
  ])('the value %j %s', (value, problem) => {
    expect(labelValueProblem(value)).toBe(problem)
  })
})
