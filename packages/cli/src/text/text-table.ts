import { displayWidth, paddedEnd } from './display-width.ts'

export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
}

/** Returns the lines of a table. Each column is as wide as its widest cell. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const lines = [columns.map((column) => column.title), ...rows]
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => displayWidth(cells[at] ?? ''))))
  return lines.map((cells) =>
    columns
      .map(({ align }, at) => {
        const cell = cells[at] ?? ''
        const width = widths[at] ?? 0
        return align === 'left' ? paddedEnd(cell, width) : ' '.repeat(width - displayWidth(cell)) + cell
      })
      .join('  ')
      .trimEnd(),
  )
}
