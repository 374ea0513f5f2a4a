import { fileURLToPath } from 'node:url'

/** The pipelines of the sample workspace. The bundle has its own copy. */
export const samplesDirectory = fileURLToPath(new URL('../../../fixtures/pipelines', import.meta.url))
