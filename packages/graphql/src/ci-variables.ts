import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.6 */
export function addCiVariables(_kit: Kit): void {}
