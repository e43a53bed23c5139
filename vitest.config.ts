import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['*/test/**/*.test.ts', 'test/**/*.test.ts'],
    env: { NO_COLOR: '1' },
    disableConsoleIntercept: true,
  },
})
