import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { StatusIcon } from '../components/status.tsx'
import { place } from '../location.ts'
import { Icon, type IconName, Mark } from './icons.tsx'
import { useRefusedClients } from './refused-clients.ts'
import { section, sectionOf } from './section.ts'
import { session, signOut } from './session.ts'

interface Destination {
  readonly path: string
  readonly label: string
  readonly icon: IconName
  /** The content after the label, which is part of the link's name. */
  readonly Addition?: () => ComponentChildren
}

const observe: readonly Destination[] = [
  { path: '/pipelines', label: 'Pipelines', icon: 'pipelines' },
  { path: '/insights', label: 'Insights', icon: 'insights' },
  { path: '/traces', label: 'Traces', icon: 'traces' },
  { path: '/logs', label: 'Logs', icon: 'logs' },
  { path: '/explore/metrics', label: 'Metrics', icon: 'metrics' },
]

const administration: readonly Destination[] = [
  { path: '/ingest', label: 'Ingest', icon: 'ingest', Addition: RefusedClients },
  { path: '/api-keys', label: 'API keys', icon: 'apiKeys' },
]

/** The side bar: where to go, who is signed in, and the way out. */
export function Navigation() {
  const [problem, setProblem] = useState('')
  const leave = () => {
    signOut().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)))
  }
  const who = session.value
  return (
    <header class="side">
      <a class="brand" href="/pipelines">
        <Mark size={22} />
        <span>Penstock</span>
      </a>
      <nav aria-label="Main">
        {/* biome-ignore lint/a11y/useSemanticElements: these are links, not fields of a form */}
        <div role="group" aria-labelledby="nav-observe">
          <div class="group-name" id="nav-observe">
            Observe
          </div>
          <Links destinations={observe} />
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: these are links, not fields of a form */}
        <div role="group" aria-label="Administration">
          <Links destinations={administration} />
        </div>
      </nav>
      <div class="who">
        {problem === '' ? null : <span role="alert">{problem}</span>}
        <span>
          {who?.key_name}, {who?.role}
        </span>
        <button class="out" type="button" onClick={leave}>
          <Icon name="signOut" />
          <span>Sign out</span>
        </button>
      </div>
    </header>
  )
}

function Links({ destinations }: { readonly destinations: readonly Destination[] }) {
  const { path } = place.value
  const current = sectionOf(path, section.value)
  const list = useRef<HTMLUListElement>(null)
  // On a narrow screen the links are a strip that scrolls sideways.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  return (
    <ul ref={list}>
      {destinations.map((destination) => (
        <li key={destination.path}>
          <a
            href={destination.path}
            aria-current={destination.path === current ? (path === current ? 'page' : 'true') : undefined}
          >
            <Icon name={destination.icon} />
            {destination.label}
            {destination.Addition === undefined ? null : <destination.Addition />}
          </a>
        </li>
      ))}
    </ul>
  )
}

/** The number of clients that enforcement would refuse; nothing if there is none. */
function RefusedClients() {
  const count = useRefusedClients()
  if (count === 0) return null
  return (
    <span class="count">
      <StatusIcon meaning="warning" />
      <b>{count}</b>
      <span class="vh"> {count === 1 ? 'client' : 'clients'} would be refused</span>
    </span>
  )
}
