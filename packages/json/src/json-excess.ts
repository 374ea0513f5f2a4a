import type { JsonLimit } from './json-scanner.ts'

const excesses = {
  containers: (most) => `has more than ${most} arrays and objects`,
  values: (most) => `has more than ${most} values`,
  depth: (most) => `is nested deeper than ${most}`,
  elements: (most) => `has more than ${most} values in one place`,
  members: (most) => `has more than ${most} members of objects`,
  digits: (most) => `has a number of more than ${most} digits`,
} satisfies Record<JsonLimit, (most: string) => string>

/** Describes how a JSON text exceeds a limit, as the predicate of a sentence: "has more than 50,000 values". */
export function jsonExcess(limit: JsonLimit, most: number): string {
  return excesses[limit](most.toLocaleString('en-US'))
}
