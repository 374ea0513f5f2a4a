import type { ApiKey } from '../../api/management.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { nowMs } from '../../components/now.ts'
import type { Resource } from '../../components/resource.ts'
import { Status } from '../../components/status.tsx'
import { Ago, Time } from '../../components/text.tsx'
import { utcText } from '../../components/time.ts'
import { DataPanel } from '../ingest/data-panel.tsx'
import { expiryOf } from '../ingest/token-model.ts'

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
  { id: 'expires', header: 'Expires', cell: (key) => <Expiry apiKey={key} /> },
  {
    id: 'actions',
    header: 'Actions',
    isNumeric: true,
    cell: (key) => (
      <button
        class="btn quiet small danger"
        type="button"
        aria-label={`Revoke ${key.name}`}
        onClick={() => revoke(key)}
      >
        Revoke
      </button>
    ),
  },
]

const SOON_MS = 7 * 86_400_000

function Expiry({ apiKey: { expires_at } }: { readonly apiKey: ApiKey }) {
  const endsMs = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
  const { text, tone } = expiryOf(
    { expires_at, expires_soon: endsMs - nowMs.value < SOON_MS, status: 'valid' },
    nowMs.value,
  )
  return (
    <span title={expires_at === null ? undefined : utcText(endsMs)}>
      {tone === undefined ? <span class="soft">{text}</span> : <Status meaning={tone}>{text}</Status>}
    </span>
  )
}
