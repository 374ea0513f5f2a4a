import { Fragment } from 'preact'
import type { Readiness, WrongPath } from '../../api/answers.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import type { Resource } from '../../components/resource.ts'
import { clientColumn, requestColumns } from './client-columns.tsx'
import { DataPanel } from './data-panel.tsx'

const keyOf = ({ network, user_agent, transport, path, token_id }: WrongPath): string =>
  JSON.stringify([network, user_agent, transport, path, token_id])

const columnsFor = (tokenName: (id: string) => string | undefined): Column<WrongPath>[] => [
  {
    id: 'path',
    header: 'Sent to',
    isRowHeader: true,
    class: 'long mono',
    cell: ({ path }) => (path === '' ? <span class="dim">hidden: it contains a secret</span> : <bdi>{path}</bdi>),
  },
  {
    id: 'right',
    header: 'Send to',
    class: 'long mono',
    cell: ({ right_paths }) =>
      right_paths.map((path, index) => (
        <Fragment key={path}>
          {index === 0 ? '' : ', '}
          {path}
        </Fragment>
      )),
  },
  { id: 'token', header: 'Token', class: 'long', cell: ({ token_id }) => <bdi>{tokenName(token_id) ?? token_id}</bdi> },
  clientColumn,
  ...requestColumns,
]

interface WrongPathsProps {
  readonly readiness: Resource<Readiness>
  readonly tokenName: (id: string) => string | undefined
}

/** The table of requests that are refused although their token is valid. Without any, nothing is shown. */
export function WrongPaths({ readiness, tokenName }: WrongPathsProps) {
  if (readiness.data === undefined || readiness.data.wrong_paths.length === 0) return null
  return (
    <DataPanel
      title="Valid tokens on a wrong path"
      resource={readiness}
      failure="The paths could not be loaded."
      skeleton={null}
    >
      {({ wrong_paths }) => (
        <DataTable
          label="Valid tokens on a wrong path"
          columns={columnsFor(tokenName)}
          rows={wrong_paths}
          rowKey={keyOf}
        />
      )}
    </DataPanel>
  )
}
