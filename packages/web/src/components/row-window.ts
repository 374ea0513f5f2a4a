/** The rows of a long list by their heights. */
export interface RowHeights {
  readonly count: number
  readonly total: number
  /** The distance of a row from the top of the list. */
  readonly offsetOf: (index: number) => number
}

/** Returns the positions of rows: from one height, or from the height of each row. */
export function rowHeights(count: number, height: number | ((index: number) => number)): RowHeights {
  if (typeof height === 'number') {
    return { count, total: count * height, offsetOf: (index) => index * height }
  }
  const offsets = new Float64Array(count + 1)
  for (let index = 0; index < count; index++) offsets[index + 1] = (offsets[index] ?? 0) + height(index)
  return { count, total: offsets[count] ?? 0, offsetOf: (index) => offsets[index] ?? 0 }
}

/** Returns the rows to render, from `first` up to but not including `end`, for a place of the scroll bar. */
export function visibleRows(
  rows: RowHeights,
  scrollTop: number,
  viewHeight: number,
  overscan: number,
): { readonly first: number; readonly end: number } {
  const first = rowAt(rows, scrollTop)
  const last = rowAt(rows, scrollTop + viewHeight)
  return { first: Math.max(0, first - overscan), end: Math.min(rows.count, last + 1 + overscan) }
}

/** Returns the row at a distance from the top, found by bisection. */
function rowAt(rows: RowHeights, distance: number): number {
  let low = 0
  let high = Math.max(0, rows.count - 1)
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (rows.offsetOf(middle) <= distance) low = middle
    else high = middle - 1
  }
  return low
}
