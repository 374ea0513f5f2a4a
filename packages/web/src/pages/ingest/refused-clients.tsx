import { Fragment } from 'preact'
import type { EnforcementMode, Readiness, RefusedClient } from '../../api/answers.ts'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { Blank } from '../../components/page-states.tsx'
import type { Resource } from '../../components/resource.ts'
import { Status } from '../../components/status.tsx'
import { numberText, Time } from '../../components/text.tsx'
import { setQuery } from '../../location.ts'
import { clientColumn, requestColumns } from './client-columns.tsx'
import { DataPanel } from './data-panel.tsx'
import { reportWindows } from './enforcement-model.ts'
import { toReasonRow } from './token-model.ts'

const keyOf = (client: RefusedClient): string =>
  JSON.stringify([client.network, client.user_agent, client.signal, client.transport, client.reason, client.token_id])

function columnsFor(tokenName: (id: string) => string | undefined, hasNetworks: boolean): Column<RefusedClient>[] {
  const network: Column<RefusedClient> = {
    id: 'network',
    header: 'Network',
    class: 'opt mono soft',
    headerClass: 'opt',
    cell: ({ network }) => network,
  }
  return [
    {
      id: 'service',
      header: 'Service',
      isRowHeader: true,
      class: 'long',
      cell: ({ service_names }) =>
        service_names.length === 0 ? (
          <span class="dim">not stated</span>
        ) : (
          service_names.map((name, index) => (
            <Fragment key={name}>
              {index === 0 ? '' : ', '}
              <bdi>{name}</bdi>
            </Fragment>
          ))
        ),
    },
    clientColumn,
    ...(hasNetworks ? [network] : []),
    {
      id: 'signal',
      header: 'Signal',
      class: 'opt soft',
      headerClass: 'opt',
      cell: ({ signal, transport }) => `${signal}, ${transport}`,
    },
    {
      id: 'reason',
      header: 'Reason',
      cell: (client) => {
        const { text, tone } = toReasonRow(client)
        const name = client.token_id === null ? undefined : (tokenName(client.token_id) ?? client.token_id)
        return (
          <Status meaning={tone}>
            {text}
            {name === undefined ? null : <span class="dim opt"> {name}</span>}
          </Status>
        )
      },
    },
    ...requestColumns,
  ]
}

interface RefusedClientsProps {
  readonly readiness: Resource<Readiness>
  /** The length of the report. */
  readonly report: { readonly value: string; readonly name: string }
  readonly mode: EnforcementMode | undefined
  readonly tokenName: (id: string) => string | undefined
}

/** The table of the clients without a valid token, most requests first. */
export function RefusedClients({ readiness, report, mode, tokenName }: RefusedClientsProps) {
  const hasNetworks = readiness.data?.clients.some(({ network }) => network !== undefined) ?? true
  const table = (clients: readonly RefusedClient[], skeletonRows = 0) => (
    <DataTable
      label="Clients that would be refused"
      columns={columnsFor(tokenName, hasNetworks)}
      rows={clients}
      rowKey={keyOf}
      skeletonRows={skeletonRows}
    />
  )
  return (
    <DataPanel
      title="Clients that would be refused"
      end={
        <span class="window">
          {mode === 'enforce' ? 'They are refused now. ' : null}
          <label>
            Seen in the last{' '}
            <select
              value={report.value}
              onChange={(event) =>
                setQuery({ window: event.currentTarget.value === '24h' ? null : event.currentTarget.value })
              }
            >
              {reportWindows.map(({ value, name }) => (
                <option key={value} value={value}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </span>
      }
      resource={readiness}
      failure="The clients could not be loaded."
      skeleton={table([], 3)}
    >
      {({ clients, observed_since, requests }) => (
        <>
          {table(clients)}
          {clients.length > 0 ? null : (
            <Blank title={requests === 0 ? 'No telemetry has arrived yet' : 'Every client sends a valid token'}>
              {requests === 0 ? (
                <>
                  Nothing has been sent since <Time at={observed_since} precision="minute" />. Wait until your senders
                  have been seen before you turn enforcement on.
                </>
              ) : (
                <>
                  All {numberText(requests)} requests since <Time at={observed_since} precision="minute" /> would have
                  got in. Enforcement would refuse none of these clients.
                </>
              )}
            </Blank>
          )}
        </>
      )}
    </DataPanel>
  )
}
