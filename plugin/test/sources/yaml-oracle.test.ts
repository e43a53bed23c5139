// How YAML is read, held against kubectl's own reader: k8s.io/apimachinery's decoder over sigs.k8s.io/yaml, which the oracle
// (test/go-oracle/formats/yaml.go) links. test/control-plane/door-oracle.test.ts asks it again, of other texts at each run.
import { expect, test } from 'vitest'
import { readVectors, textAt } from '../../../shared/test/go/vectors.ts'
import { agreement, kleyms, kubectls } from '../support/kubectl-reading.ts'

test('YAML is read as kubectl reads it, but for the differences that are named', async () => {
  const differences: unknown[] = []
  const counts = new Map<string, number>()
  for (const row of readVectors('yaml.jsonl')) {
    const text = textAt(row, 0)
    const [kubectl, kleym] = [kubectls(row), await kleyms(text)]
    const agreed = agreement(kubectl, kleym) ?? 'different'
    counts.set(agreed, (counts.get(agreed) ?? 0) + 1)
    if (agreed === 'different') differences.push({ text, kubectl, kleym })
  }
  expect(differences).toEqual([])
  // The corpus has enough of each, and what is refused by kleym alone stays the exception.
  expect(counts.get('the same documents')).toBeGreaterThan(500)
  expect(counts.get('both refuse')).toBeGreaterThan(300)
})
