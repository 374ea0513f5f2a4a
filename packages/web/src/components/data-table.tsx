import type { ComponentChildren } from 'preact'

/** A column of a table. */
export interface Column<Row> {
  readonly id: string
  readonly header: ComponentChildren
  readonly cell: (row: Row) => ComponentChildren
  /** Right-aligned figures. */
  readonly isNumeric?: boolean
  /** The cell names its row. */
  readonly isRowHeader?: boolean
  /** Classes of the cells. */
  readonly class?: string
  /** Classes of the header, which set the width of the column. */
  readonly headerClass?: string
  readonly sort?: 'ascending' | 'descending' | undefined
}

interface DataTableProps<Row> {
  /** The accessible name. */
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly rowKey: (row: Row) => string
  readonly class?: string
  readonly rowClass?: (row: Row) => string | undefined
  /** Whether the address of the page names the row. Such rows are marked. */
  readonly isCurrent?: (row: Row) => boolean
  /** The rows are being loaded again; the old ones stay. */
  readonly isBusy?: boolean
  /** Shows this number of skeleton rows instead of rows. */
  readonly skeletonRows?: number
  /** How many rows there are, headers included, if not all are shown. -1 if the number is unknown. */
  readonly rowCount?: number | undefined
}

/** A table of data with a name, headers and rows of one height. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, rowClass, isCurrent, isBusy = false, skeletonRows = 0, rowCount } = props
  return (
    <table class={props.class} aria-label={label} aria-busy={isBusy || skeletonRows > 0} aria-rowcount={rowCount}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th
              key={column.id}
              scope="col"
              class={classesOf(column.headerClass, column.isNumeric)}
              aria-sort={column.sort}
            >
              {column.header}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {skeletonRows > 0
          ? Array.from({ length: skeletonRows }, (_, index) => (
              <tr key={index}>
                {columns.map((column) => (
                  <td key={column.id} class={classesOf(column.class, column.isNumeric)}>
                    <span class="skeleton" style={{ width: `${40 + ((index * 17) % 40)}%` }} />
                  </td>
                ))}
              </tr>
            ))
          : rows.map((row) => (
              <tr
                key={rowKey(row)}
                class={rowClass?.(row)}
                aria-current={isCurrent?.(row) === true ? 'true' : undefined}
              >
                {columns.map((column) => (
                  <Cell key={column.id} column={column} row={row} />
                ))}
              </tr>
            ))}
      </tbody>
    </table>
  )
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const classes = classesOf(column.class, column.isNumeric)
  if (column.isRowHeader) {
    return (
      <th scope="row" class={classes}>
        {column.cell(row)}
      </th>
    )
  }
  return <td class={classes}>{column.cell(row)}</td>
}

function classesOf(classes: string | undefined, isNumeric = false): string | undefined {
  const all = [classes, isNumeric ? 'num' : undefined].filter((name) => name !== undefined)
  return all.length === 0 ? undefined : all.join(' ')
}
