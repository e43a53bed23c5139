// A small YAML file that says something about other files: Chart.yaml, kustomization.yaml.
import { BudgetSpent, type Budget } from './budget.ts'
import { parseYaml } from './yaml.ts'

/** The value of its first document; an empty object for an empty text, undefined for one that cannot be read. */
export async function firstValueIn(text: string | undefined, budget: Budget): Promise<unknown> {
  if (text === undefined) return undefined
  if (text.trim() === '') return {}
  try {
    const { documents } = await parseYaml(text, { badLines: [], lines: new Map(), budget })
    return documents[0]?.value
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) return undefined
    throw thrown
  }
}
