import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.4 */
export function addRepository(_kit: Kit): void {}
