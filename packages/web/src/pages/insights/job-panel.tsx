import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { place } from '../../location.ts'

interface JobPanelProps<Row> {
  /** The fragment that links to the panel use. */
  readonly id: string
  readonly title: string
  readonly note: string
  /** The sentence without rows. */
  readonly empty: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** The end of the header. */
  readonly end?: ComponentChildren
}

interface Job {
  readonly name: string
  readonly stage?: string | null
  readonly project: string | null
}

/**
 * A list of jobs. A long one scrolls by itself, so that the panels below it stay in reach. The row of the job that the address names is marked and
 * in view.
 */
export function JobPanel<Row extends Job>({ id, title, note, empty, columns, rows, end }: JobPanelProps<Row>) {
  const at = place.value
  const job = at.query.get('job')
  const list = useRef<HTMLDivElement>(null)
  const isNamed = at.fragment === id
  // Only within the list: the page goes to the panel by itself.
  useEffect(() => {
    const box = list.current
    const row = isNamed ? box?.querySelector<HTMLElement>('[aria-current]') : null
    if (box != null && row != null) box.scrollTop = row.offsetTop - box.clientHeight / 2
  }, [isNamed, job, rows])
  return (
    <section class="panel" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        {end === undefined ? null : <span class="end">{end}</span>}
      </header>
      <p class="note">{note}</p>
      {rows.length === 0 ? (
        <p class="note">{empty}</p>
      ) : (
        <div class="scroll tall" ref={list}>
          <DataTable
            label={title}
            columns={columns}
            rows={rows}
            rowKey={keyOf}
            isCurrent={({ name }) => name === job}
          />
        </div>
      )}
    </section>
  )
}

const keyOf = ({ project, stage, name }: Job): string => JSON.stringify([project, stage, name])
