import { useMemo, useState } from 'preact/hooks'
import { type KeyBinding, useKeys } from '../../app/keys.ts'
import { may } from '../../app/session.ts'
import { Blank, ShownTogether } from '../../components/page-states.tsx'
import { usePagedList, useResource } from '../../components/resource.ts'
import { listApiKeys, listTokens } from '../ingest/management-api.ts'
import { type TokenDialog, TokenDialogs } from '../ingest/token-dialogs.tsx'
import { TokenTable } from '../ingest/token-table.tsx'
import { type KeyDialog, KeyDialogs } from './key-dialogs.tsx'
import { KeyTable } from './key-table.tsx'
import '../ingest/ingest.css'

/** The page API keys: the keys of this console for Admins, and ingest tokens. */
export default function Page() {
  const [announcement, announce] = useState('')
  const [keyDialog, showKey] = useState<KeyDialog>()
  const [tokenDialog, showToken] = useState<TokenDialog>()
  const isAdmin = may('Admin')
  const keys = useResource(isAdmin ? 'keys' : null, listApiKeys)
  const tokens = usePagedList('tokens', listTokens)
  const bindings = useMemo((): KeyBinding[] => {
    const refresh = () => {
      keys.reload()
      tokens.reload()
    }
    return [{ keys: 'r', label: 'Refresh', run: refresh }]
  }, [keys.reload, tokens.reload])
  useKeys('API keys', bindings)

  return (
    <>
      <div class="head">
        <h1>API keys</h1>
        {isAdmin ? (
          <div class="end">
            <button class="btn primary" type="button" onClick={() => showKey({ kind: 'create' })}>
              Create API key
            </button>
          </div>
        ) : null}
      </div>
      <ShownTogether resources={[tokens, ...(isAdmin ? [keys] : [])]}>
        {isAdmin ? (
          <KeyTable keys={keys} open={showKey} />
        ) : (
          <section class="panel" aria-label="API keys">
            <Blank title="API keys are managed by Admins">
              Sign in with a key of the role Admin to see, create or revoke keys. Ingest tokens are below.
            </Blank>
          </section>
        )}
        <TokenTable tokens={tokens} open={showToken} hasCreateButton />
      </ShownTogether>
      {keyDialog === undefined ? null : (
        <KeyDialogs dialog={keyDialog} show={showKey} announce={announce} onChanged={keys.reload} />
      )}
      {tokenDialog === undefined ? null : (
        <TokenDialogs dialog={tokenDialog} show={showToken} announce={announce} onChanged={tokens.reload} />
      )}
      <p class="vh" role="status">
        {announcement}
      </p>
    </>
  )
}
