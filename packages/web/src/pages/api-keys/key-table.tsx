import type { ApiKey } from '../../api/answers.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { nowMs } from '../../components/now.ts'
import type { Resource } from '../../components/resource.ts'
import { Ago, Time } from '../../components/text.tsx'
import { DataPanel } from '../ingest/data-panel.tsx'
import { ExpiryCell } from '../ingest/expiry-cell.tsx'
import { RowAction } from '../ingest/row-action.tsx'

interface KeyTableProps {
  readonly keys: Resource<readonly ApiKey[]>
  /** Opens the dialog that creates a key, or the one that revokes it. */
  readonly open: (dialog: { readonly kind: 'create' } | { readonly kind: 'revoke'; readonly key: ApiKey }) => void
}

/** The table of API keys, newest first. */
export function KeyTable({ keys, open }: KeyTableProps) {
  const names = new Map(keys.data?.map(({ id, name }) => [id, name]))
  const table = (rows: readonly ApiKey[], skeletonRows = 0) => (
    <DataTable
      label="API keys"
      columns={columnsFor(names, (key) => open({ kind: 'revoke', key }))}
      rows={rows}
      rowKey={({ id }) => id}
      skeletonRows={skeletonRows}
    />
  )
  return (
    <DataPanel
      title="API keys"
      end={keys.data === undefined ? null : `${keys.data.length} ${keys.data.length === 1 ? 'key' : 'keys'}`}
      resource={keys}
      rowIds={keys.data?.map(({ id }) => id)}
      failure="The keys could not be loaded."
      skeleton={table([], 3)}
    >
      {(rows) => table(rows)}
    </DataPanel>
  )
}

const columnsFor = (names: ReadonlyMap<string, string>, revoke: (key: ApiKey) => void): readonly Column<ApiKey>[] => [
  {
    id: 'name',
    header: 'Name',
    isRowHeader: true,
    class: 'long',
    cell: ({ name, id }) => (
      <>
        {name} <span class="dim mono opt">{id.slice(0, 6)}</span>
      </>
    ),
  },
  { id: 'role', header: 'Role', cell: ({ role }) => role },
  {
    id: 'created',
    header: 'Created',
    class: 'soft opt',
    headerClass: 'opt',
    cell: ({ created_at }) => <Time at={created_at} precision="minute" />,
  },
  {
    id: 'by',
    header: 'By',
    class: 'soft opt mid long',
    headerClass: 'opt mid',
    cell: ({ created_by }) => (created_by === null ? 'first start' : (names.get(created_by) ?? created_by)),
  },
  {
    id: 'used',
    header: 'Last used',
    isNumeric: true,
    class: 'soft opt',
    headerClass: 'opt',
    cell: ({ last_used_at }) => <Ago at={last_used_at} />,
  },
  {
    id: 'expires',
    header: 'Expires',
    cell: (key) => <ExpiryCell of={{ ...key, expires_soon: isSoon(key), status: 'valid' }} />,
  },
  {
    id: 'actions',
    header: 'Actions',
    isNumeric: true,
    cell: (key) => <RowAction word="Revoke" name={key.name} isDanger onClick={() => revoke(key)} />,
  },
]

const SOON_MS = 7 * 86_400_000

/** Returns whether a key expires within a week, of which the API warns for tokens only. */
const isSoon = ({ expires_at }: ApiKey): boolean =>
  expires_at !== null && Date.parse(expires_at) - nowMs.value < SOON_MS
