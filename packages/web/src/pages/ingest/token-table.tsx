import type { IngestToken } from '../../api/answers.ts'
import { may } from '../../app/session.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Blank } from '../../components/page-states.tsx'
import type { PagedList } from '../../components/resource.ts'
import { Spark } from '../../components/spark.tsx'
import { Ago } from '../../components/text.tsx'
import { DataPanel } from './data-panel.tsx'
import { ExpiryCell } from './expiry-cell.tsx'
import { HourlyUse, RequestCount } from './hourly-use.tsx'
import { requestsByHour } from './hourly-use-model.ts'
import { RowAction } from './row-action.tsx'
import type { TokenDialog } from './token-dialogs.tsx'
import { bytesText, restrictions, signalsText, tokensSummary } from './token-model.ts'

interface TokenTableProps {
  readonly tokens: PagedList<IngestToken>
  readonly open: (dialog: TokenDialog) => void
  /** Shows the button that creates a token in the header of the panel. */
  readonly hasCreateButton?: boolean
}

/** The table of ingest tokens with their use, and the actions that the role allows. */
export function TokenTable({ tokens, open, hasCreateButton = false }: TokenTableProps) {
  const mayChange = may('Editor')
  const columns = mayChange ? [...tokenColumns, actionsColumn(open)] : tokenColumns
  const table = (rows: readonly IngestToken[], skeletonRows = 0) => (
    <DataTable
      label="Ingest tokens"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      skeletonRows={skeletonRows}
      {...(tokens.loadMore === undefined ? {} : { rowCount: -1 })}
    />
  )
  const createButton = (
    <button class="btn small" type="button" onClick={() => open({ kind: 'create' })}>
      Create token
    </button>
  )
  return (
    <DataPanel
      title="Ingest tokens"
      end={
        <>
          {tokens.data === undefined ? null : tokensSummary(tokens.data)}
          {tokens.loadMore === undefined ? null : ' so far'}
          {hasCreateButton && mayChange ? <> {createButton}</> : null}
        </>
      }
      resource={tokens}
      rowIds={tokens.data?.map(({ id }) => id)}
      failure="The tokens could not be loaded."
      skeleton={table([], 3)}
    >
      {(rows) => (
        <>
          {table(rows)}
          <HourlyUse tokens={rows} />
          {rows.length > 0 ? null : (
            <Blank title="There is no token yet">
              {mayChange
                ? 'Create one for each sender, so that each can be limited, rotated and revoked by itself.'
                : 'An Editor or Admin can create one.'}
            </Blank>
          )}
          {tokens.loadMore === undefined ? null : (
            <p class="note">
              <button class="btn small" type="button" disabled={tokens.isLoadingMore} onClick={tokens.loadMore}>
                Load more tokens
              </button>
            </p>
          )}
        </>
      )}
    </DataPanel>
  )
}

const tokenColumns: readonly Column<IngestToken>[] = [
  {
    id: 'name',
    header: 'Name',
    isRowHeader: true,
    class: 'long',
    cell: (token) => (
      <>
        {token.name} <span class="dim mono opt">{token.id.slice(0, 6)}</span>
        <Restrictions token={token} />
      </>
    ),
  },
  {
    id: 'signals',
    header: 'Signals',
    class: 'soft opt mid',
    headerClass: 'opt mid',
    cell: (token) => signalsText(token),
  },
  {
    id: 'requests',
    header: 'Requests, 24 h',
    isNumeric: true,
    class: 'opt',
    headerClass: 'opt',
    cell: ({ usage_24h }) => <RequestCount {...usage_24h} />,
  },
  {
    id: 'hours',
    header: 'By hour',
    class: 'opt mid',
    headerClass: 'opt mid',
    cell: ({ usage_by_hour }) => <Spark values={requestsByHour(usage_by_hour)} bottom={0} />,
  },
  {
    id: 'size',
    header: 'Size',
    isNumeric: true,
    class: 'soft opt',
    headerClass: 'opt',
    cell: ({ usage_24h }) => bytesText(usage_24h.bytes),
  },
  {
    id: 'used',
    header: 'Last used',
    isNumeric: true,
    class: 'soft opt',
    headerClass: 'opt',
    cell: ({ last_used_at }) => <Ago at={last_used_at} />,
  },
  { id: 'expires', header: 'Expires', cell: (token) => <ExpiryCell of={token} /> },
]

const actionsColumn = (open: (dialog: TokenDialog) => void): Column<IngestToken> => ({
  id: 'actions',
  header: 'Actions',
  isNumeric: true,
  cell: (token) => (
    <span class="actions">
      <RowAction word="Edit" name={token.name} onClick={() => open({ kind: 'edit', token })} />
      <RowAction word="Rotate" name={token.name} onClick={() => open({ kind: 'rotate', token })} />
      <RowAction word="Revoke" name={token.name} isDanger onClick={() => open({ kind: 'revoke', token })} />
    </span>
  ),
})

/** The limits and restrictions of a token, which open below its name. */
function Restrictions({ token }: { readonly token: IngestToken }) {
  const rows = restrictions(token)
  if (rows.length === 0) return null
  return (
    <details class="restrictions">
      <summary>
        {rows.length === 1 ? rows[0]!.name : `${rows[0]!.name} and ${rows.length - 1} more`}
        <span class="vh"> of {token.name}</span>
      </summary>
      <dl>
        {rows.map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}
