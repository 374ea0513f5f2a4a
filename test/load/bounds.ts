import { printTable } from './measure.ts'

export interface Bound {
  readonly what: string
  readonly measured: string
  /** The bound in words. Without one, the figure is only printed. */
  readonly bound?: string
  readonly isMet?: boolean
}

export function atMost(what: string, measured: number, bound: number, unit: string, digits = 1): Bound {
  return {
    what,
    measured: `${measured.toFixed(digits)} ${unit}`,
    bound: `≤ ${bound.toFixed(digits)} ${unit}`,
    isMet: measured <= bound,
  }
}

/** Prints the bounds, and makes this process fail if one was missed. */
export function reportBounds(title: string, bounds: readonly Bound[]): void {
  console.log(`\n${title}`)
  const verdict = (isMet: boolean | undefined) => (isMet === undefined ? '' : isMet ? 'met' : 'MISSED')
  printTable([
    ['', 'measured', 'bound', ''],
    ...bounds.map(({ what, measured, bound = '', isMet }) => [what, measured, bound, verdict(isMet)]),
  ])
  if (bounds.some(({ isMet }) => isMet === false)) process.exitCode = 1
}
