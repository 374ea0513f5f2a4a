import { useState } from 'preact/hooks'
import type { IngestToken } from '../../api/answers.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { nowMs } from '../../components/now.ts'
import { numberText } from '../../components/text.tsx'
import { localText, utcText } from '../../components/time.ts'
import { type HourlyRow, hourlyUse } from './hourly-use-model.ts'

/** The requests of each token by hour, as a table that opens: the same numbers as in the drawings of the token table. */
export function HourlyUse({ tokens }: { readonly tokens: readonly IngestToken[] }) {
  const [isOpen, setOpen] = useState(false)
  const { hours, rows } = hourlyUse(tokens)
  if (rows.length === 0) return null
  return (
    <details class="table hourly" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Show requests by hour as a table</summary>
      {isOpen ? (
        // A region that scrolls has to be reached by keyboard.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
        <section class="scroll" aria-label="Requests by hour" tabIndex={0}>
          <DataTable label="Requests by hour" columns={columns(hours)} rows={rows} rowKey={({ id }) => id} />
        </section>
      ) : null}
    </details>
  )
}

const columns = (hours: readonly number[]): readonly Column<HourlyRow>[] => [
  { id: 'name', header: 'Name', isRowHeader: true, cell: ({ name }) => name },
  ...hours.map((ms, at) => ({
    id: String(ms),
    header: <span title={utcText(ms)}>{localText(ms, 'time', nowMs.value)}</span>,
    isNumeric: true,
    cell: ({ requests, rejected }: HourlyRow) => (
      <RequestCount requests={requests[at] ?? 0} rejected={rejected[at] ?? 0} />
    ),
  })),
]

interface RequestCountProps {
  readonly requests: number
  readonly rejected: number
}

/** A number of requests, and of those that were refused if there are any. */
export function RequestCount({ requests, rejected }: RequestCountProps) {
  return (
    <>
      {requests === 0 ? <span class="zero">0</span> : numberText(requests)}
      {rejected === 0 ? null : <span class="dim"> {numberText(rejected)} refused</span>}
    </>
  )
}
