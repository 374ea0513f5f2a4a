import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.5 */
export function addJobs(_kit: Kit): void {}
