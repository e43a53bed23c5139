// Steps of a scenario: what can only happen in one order is one test, whose failure says in which step it was.

/** Does a step; an error is thrown on with the step's name before its message. */
export async function step(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    // The error itself goes on: the runner shows what an assertion expected.
    if (error instanceof Error) error.message = `${what}: ${error.message}`
    throw error
  }
}
