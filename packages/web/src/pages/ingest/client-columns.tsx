import type { Column } from '../../components/data-table.tsx'
import { Ago, numberText } from '../../components/text.tsx'

/** The facts about requests of one client that every table of clients shows. */
interface ClientRow {
  readonly user_agent: string
  readonly last_seen: string
  readonly count: number
}

export const clientColumn: Column<ClientRow> = {
  id: 'client',
  header: 'Client',
  class: 'opt mid soft long',
  headerClass: 'opt mid',
  cell: ({ user_agent }) => (user_agent === '' ? <span class="dim">not stated</span> : <bdi>{user_agent}</bdi>),
}

/** The columns at the end of a table of clients, most requests first. */
export const requestColumns: readonly Column<ClientRow>[] = [
  {
    id: 'requests',
    header: 'Requests',
    isNumeric: true,
    class: 'strong',
    sort: 'descending',
    cell: ({ count }) => numberText(count),
  },
  {
    id: 'seen',
    header: 'Last seen',
    isNumeric: true,
    class: 'soft',
    cell: ({ last_seen }) => <Ago at={last_seen} />,
  },
]
