// A small YAML file that says something about other files: Chart.yaml, kustomization.yaml.
import { BudgetSpent, type Budget } from './budget.ts'
import { parseYaml } from './yaml.ts'

/** The value of its first document; an empty object for a text without one, undefined for one that cannot be read. */
export async function firstValueIn(text: string | undefined, budget: Budget): Promise<unknown> {
  if (text === undefined) return undefined
  try {
    const { documents, faults } = await parseYaml(text, { badLines: [], lines: new Map(), budget })
    const [first] = documents
    if (faults.length > 0) return undefined
    return first === undefined || first.value === null ? {} : first.value
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) return undefined
    throw thrown
  }
}
