import { fileURLToPath } from 'node:url'

export const consoleDirectory = fileURLToPath(new URL('dist/console', import.meta.url))
