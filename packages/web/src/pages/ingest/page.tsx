import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { getReadiness, getState } from '../../api/readiness.ts'
import { type KeyBinding, useKeys } from '../../app/keys.ts'
import { refreshRefusedClients } from '../../app/refused-clients.ts'
import { may } from '../../app/session.ts'
import { ShownTogether } from '../../components/page-states.tsx'
import { usePagedList, useResource } from '../../components/resource.ts'
import { place } from '../../location.ts'
import { auditNames } from './audit-model.ts'
import { AuditPanel } from './audit-panel.tsx'
import { reportWindow } from './enforcement-model.ts'
import { EnforcementPanel } from './enforcement-panel.tsx'
import { listApiKeys, listAudit, listTokens, TOKENS_PER_PAGE } from './management-api.ts'
import { RefusedClients } from './refused-clients.tsx'
import { type TokenDialog, TokenDialogs } from './token-dialogs.tsx'
import { TokenTable } from './token-table.tsx'
import { WrongPaths } from './wrong-paths.tsx'
import './ingest.css'

const REFRESH_MS = 15_000

/** The page Ingest: enforcement, the clients that it would refuse, tokens, and what was changed. */
export default function Page() {
  const [announcement, announce] = useState('')
  const [dialog, show] = useState<TokenDialog>()
  const isAdmin = may('Admin')
  const event = place.value.query.get('event') ?? ''
  const state = useResource('state', getState)
  const report = reportWindow(place.value.query.get('window'))
  const readiness = useResource(`readiness ${report.value}`, (signal) => getReadiness(report.value, signal))
  const tokens = usePagedList('tokens', listTokens)
  const audit = usePagedList(isAdmin ? `audit ${event}` : null, (cursor, signal) => listAudit(event, cursor, signal))
  const keys = useResource(isAdmin ? 'keys' : null, listApiKeys)
  const names = useMemo(() => auditNames(tokens.data ?? [], keys.data ?? []), [tokens.data, keys.data])

  const hasOnePage = useRef(true)
  hasOnePage.current = (tokens.data?.length ?? 0) <= TOKENS_PER_PAGE
  const refresh = useCallback(() => {
    for (const { reload } of [state, readiness, tokens, audit]) reload()
    refreshRefusedClients()
  }, [state.reload, readiness.reload, tokens.reload, audit.reload])
  // Senders come and go while someone watches who would be refused. An open dialog keeps what it is about.
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return
      for (const { reload } of [state, readiness]) reload()
      refreshRefusedClients()
      // A list of several pages would lose all but the first one.
      if (hasOnePage.current) tokens.reload()
    }, REFRESH_MS)
    return () => clearInterval(timer)
  }, [state.reload, readiness.reload, tokens.reload])
  const bindings = useMemo((): KeyBinding[] => [{ keys: 'r', label: 'Refresh', run: refresh }], [refresh])
  useKeys('Ingest', bindings)

  return (
    <>
      <div class="head">
        <h1>Ingest</h1>
        {may('Editor') ? (
          <div class="end">
            <button class="btn primary" type="button" onClick={() => show({ kind: 'create' })}>
              Create token
            </button>
          </div>
        ) : null}
      </div>
      <ShownTogether resources={[state, readiness, tokens, ...(isAdmin ? [audit] : [])]}>
        <EnforcementPanel state={state} readiness={readiness} report={report} announce={announce} onChanged={refresh} />
        <RefusedClients
          readiness={readiness}
          report={report}
          mode={state.data?.data.mode}
          tokenName={(id) => names.tokens.get(id)}
        />
        <WrongPaths readiness={readiness} tokenName={(id) => names.tokens.get(id)} />
        <TokenTable tokens={tokens} open={show} />
        {isAdmin ? <AuditPanel events={audit} names={names} /> : null}
      </ShownTogether>
      {dialog === undefined ? null : (
        <TokenDialogs dialog={dialog} show={show} announce={announce} onChanged={refresh} />
      )}
      <p class="vh" role="status">
        {announcement}
      </p>
    </>
  )
}
