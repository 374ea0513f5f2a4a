/** A field that was read as absent, or kept although its value looks wrong. */
export interface Warning {
  readonly path: string
  readonly reason: string
}

/** The first `warningLimit` warnings of one body, and the total number. */
export interface Warnings {
  readonly items: readonly Warning[]
  readonly total: number
}

export const warningLimit = 100

export interface WarningList extends Warnings {
  readonly items: Warning[]
  total: number
}

export function newWarnings(): WarningList {
  return { items: [], total: 0 }
}
