import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ConsolePage, consolePages } from '../../console-pages.js'
import { StatusIcon } from '../components/status.tsx'
import { place } from '../location.ts'
import { Icon, Mark } from './icons.tsx'
import { keptFilters } from './kept-filters.ts'
import { useRefusedClients } from './refused-clients.ts'
import { findSection, section } from './section.ts'
import { session, signOut } from './session.ts'

type Group = NonNullable<ConsolePage['navigation']>['group']

/** The content after the label of a link, which is part of the link's name. */
const additions: Readonly<Record<string, (() => ComponentChildren) | undefined>> = { '/ingest': RefusedClients }

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
          <Links group="observe" />
        </div>
        {/* biome-ignore lint/a11y/useSemanticElements: these are links, not fields of a form */}
        <div role="group" aria-label="Administration">
          <Links group="administration" />
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

function Links({ group }: { readonly group: Group }) {
  const { path } = place.value
  const current = findSection(path, section.value)
  const list = useRef<HTMLUListElement>(null)
  // On a narrow screen the links are a strip that scrolls sideways.
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [current])
  return (
    <ul ref={list}>
      {consolePages.map((page) => {
        const { path: target, title, navigation } = page
        if (navigation?.group !== group) return null
        const Addition = additions[target]
        return (
          <li key={target}>
            <a
              href={keptFilters.addressOf(page, place.value)}
              aria-current={target === current ? (path === current ? 'page' : 'true') : undefined}
            >
              <Icon name={navigation.icon} />
              {title}
              {Addition === undefined ? null : <Addition />}
            </a>
          </li>
        )
      })}
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
