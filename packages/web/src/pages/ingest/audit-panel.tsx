import type { AuditEvent } from '../../api/answers.ts'
import { csvText, saveText } from '../../components/csv.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { SelectFilter } from '../../components/filter-bar.tsx'
import { Blank, NothingFound } from '../../components/page-states.tsx'
import type { PagedList } from '../../components/resource.ts'
import { Time } from '../../components/text.tsx'
import { place } from '../../location.ts'
import { type AuditNames, type AuditRow, auditEventNames, auditRow } from './audit-model.ts'
import { DataPanel } from './data-panel.tsx'

const columns: readonly Column<AuditRow>[] = [
  {
    id: 'time',
    header: 'Time',
    sort: 'descending',
    class: 'soft nowrap',
    cell: ({ at }) => <Time at={at} precision="minute" />,
  },
  { id: 'what', header: 'What happened', class: 'long', cell: ({ text }) => text },
  { id: 'subject', header: 'Token or key', class: 'opt long', headerClass: 'opt', cell: ({ subject }) => subject },
  { id: 'by', header: 'By', class: 'soft long', cell: ({ by }) => by },
  { id: 'source', header: 'From', class: 'opt mid mono soft', headerClass: 'opt mid', cell: ({ source }) => source },
]

interface AuditPanelProps {
  readonly events: PagedList<AuditEvent>
  readonly names: AuditNames
}

/** The changes and refusals of this gateway, newest first. */
export function AuditPanel({ events, names }: AuditPanelProps) {
  const rows = events.data?.map((event) => auditRow(event, names))
  const table = (shown: readonly AuditRow[], skeletonRows = 0) => (
    <DataTable
      label="Audit"
      columns={columns}
      rows={shown}
      rowKey={({ id }) => id}
      skeletonRows={skeletonRows}
      {...(events.loadMore === undefined ? {} : { rowCount: -1 })}
    />
  )
  return (
    <DataPanel
      title="Audit"
      end={
        <button class="btn quiet small" type="button" disabled={!rows?.length} onClick={() => save(rows ?? [])}>
          Download CSV
        </button>
      }
      resource={events}
      failure="The audit log could not be loaded."
      skeleton={table([], 5)}
    >
      {() => (
        <>
          <div class="bar audit-filter">
            <SelectFilter label="Event" name="event" any="All events" options={auditEventNames} />
          </div>
          {table(rows ?? [])}
          {rows?.length === 0 ? <NoEvents /> : null}
          {events.loadMore === undefined ? null : (
            <p class="note">
              <button class="btn small" type="button" disabled={events.isLoadingMore} onClick={events.loadMore}>
                Load next page
              </button>
            </p>
          )}
        </>
      )}
    </DataPanel>
  )
}

function NoEvents() {
  if (place.value.query.get('event')) return <NothingFound title="No such event">The log keeps 400 days.</NothingFound>
  return <Blank title="Nothing has been changed yet">Changes of tokens, keys and enforcement appear here.</Blank>
}

function save(rows: readonly AuditRow[]): void {
  const headers = ['time', 'event', 'subject', 'by', 'source', 'request_id']
  const lines = rows.map((row) => [row.at, row.text, row.subject, row.by, row.source, row.requestId])
  saveText('audit.csv', 'text/csv', csvText(headers, lines))
}
