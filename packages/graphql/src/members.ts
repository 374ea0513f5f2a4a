import type { Kit } from './kit.ts'

/** @see spec/graphql-contract.md 5.3 */
export function addMembers(_kit: Kit): void {}
