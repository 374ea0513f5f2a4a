import type { ComponentType } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { consolePages } from '../../console-pages.js'
import { ApiError } from '../api/client.ts'
import { Failure, NoStore, useDelayed } from '../components/page-states.tsx'
import { navigate, place } from '../location.ts'
import type { PageProps } from '../page-props.ts'
import { findRoute, type Route } from '../routes.ts'
import { keptFilters } from './kept-filters.ts'
import { type KeyBinding, useKeys } from './keys.ts'
import { KeysDialog } from './keys-dialog.tsx'
import { Navigation } from './navigation.tsx'
import { session } from './session.ts'
import { SignIn } from './sign-in.tsx'

/** The console: the form that signs in, or the navigation and the page of the address. */
export function App() {
  if (session.value === undefined) return null
  return session.value === null ? <SignIn /> : <Shell />
}

const goToKeys: readonly KeyBinding[] = consolePages.flatMap((page) => {
  const { title, navigation } = page
  if (navigation === undefined) return []
  const run = () => navigate(keptFilters.addressOf(page, place.peek()))
  return [{ keys: `g ${navigation.key}`, label: `Go to ${title}`, run }]
})

function Shell() {
  const [hasKeys, setKeys] = useState(false)
  const bindings = useMemo(
    (): KeyBinding[] => [
      { keys: '?', label: 'Show all keys', run: () => setKeys(true) },
      ...goToKeys,
      { keys: '/', label: 'Search', run: () => document.querySelector<HTMLElement>('input[type="search"]')?.focus() },
    ],
    [],
  )
  useKeys('Everywhere', bindings)
  return (
    <div class="app">
      <a class="skip" href="#main">
        Skip to content
      </a>
      <Navigation />
      <CurrentPage />
      {hasKeys ? <KeysDialog onClose={() => setKeys(false)} /> : null}
    </div>
  )
}

function CurrentPage() {
  const { path } = place.value
  const found = findRoute(path)
  const main = useRef<HTMLElement>(null)
  const isFirst = useRef(true)
  const title = found?.route.title ?? 'Not found'
  useEffect(() => {
    if (path === '/') navigate('/pipelines', { replace: true })
    document.title = `${title} · Penstock`
    // A page that follows a link takes the focus, so that a screen reader begins there.
    if (!isFirst.current) main.current?.focus({ preventScroll: true })
    isFirst.current = false
  }, [path, title])
  if (path === '/') return <main id="main" />
  return (
    <main id="main" ref={main} tabIndex={-1}>
      {found === undefined ? (
        <NotFound />
      ) : found.route.needsStore && session.value?.observe.connected === false ? (
        <>
          <Head title={title} />
          <NoStore />
        </>
      ) : (
        <LoadedPage key={path} route={found.route} params={found.params} />
      )}
    </main>
  )
}

/** Pages that have been loaded, so that a return to one shows it at once. */
const loaded = new Map<string, ComponentType<PageProps>>()

function LoadedPage({ route, params }: { readonly route: Route } & PageProps) {
  const [page, setPage] = useState<{ readonly Page: ComponentType<PageProps> } | undefined>(() => {
    const Page = loaded.get(route.path)
    return Page === undefined ? undefined : { Page }
  })
  const [problem, setProblem] = useState<ApiError>()
  const isLong = useDelayed(page === undefined)
  useEffect(() => {
    if (loaded.has(route.path)) return
    let isGone = false
    route.page().then(
      (module) => {
        loaded.set(route.path, module.default)
        if (!isGone) setPage({ Page: module.default })
      },
      () => setProblem(new ApiError('The service may have been updated or stopped.', 0)),
    )
    return () => {
      isGone = true
    }
  }, [route])
  if (page !== undefined) return <page.Page params={params} />
  if (problem !== undefined) {
    return (
      <>
        <Head title={route.title} />
        <div class="panel">
          <Failure title="The page could not be loaded." error={problem} onRetry={() => location.reload()} />
        </div>
      </>
    )
  }
  return isLong ? <Head title={route.title} /> : null
}

function NotFound() {
  return (
    <>
      <Head title="Nothing at this address" />
      <p>
        <a href={keptFilters.addressOfPath('/pipelines', place.value)}>Go to Pipelines</a>
      </p>
    </>
  )
}

function Head({ title }: { readonly title: string }) {
  return (
    <div class="head">
      <h1>{title}</h1>
    </div>
  )
}
