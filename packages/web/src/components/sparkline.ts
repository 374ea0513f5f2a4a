export const SPARK_WIDTH = 96
export const SPARK_HEIGHT = 20
const EDGE = 2

/**
 * Returns the path of a small line through values; parts without a value are skipped. Empty if there are fewer than two.
 *
 * @param bottom the value at the bottom; the lowest one unless it is given
 */
export function sparkline(values: readonly (number | null)[], bottom?: number): string {
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return ''
  const [least, most] = [bottom ?? Math.min(...known), Math.max(...known)]
  const span = most - least || 1
  let path = ''
  let isPenDown = false
  for (const [index, value] of values.entries()) {
    if (value === null) continue
    const x = EDGE + (index / Math.max(1, values.length - 1)) * (SPARK_WIDTH - 2 * EDGE)
    const y = SPARK_HEIGHT - EDGE - ((value - least) / span) * (SPARK_HEIGHT - 2 * EDGE)
    path += `${isPenDown ? 'L' : 'M'}${round(x)} ${round(y)}`
    isPenDown = true
  }
  return path
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
