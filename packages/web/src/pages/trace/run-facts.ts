import { toValueText, type WireAttribute } from '../../api/otlp-json.ts'
import { commitUrl } from '../../components/forge-names.ts'
import { runNumber } from '../../components/run-number.ts'
import { safeUrl, type TraceSpan } from './trace-span.ts'

/** The facts that stand above the waterfall of a pipeline. */
export interface RunFacts {
  readonly title: string
  readonly project: string | undefined
  readonly busySeconds: number | undefined
  readonly queueSeconds: number | undefined
  readonly ref: string | undefined
  readonly sha: string | undefined
  readonly commit: string | undefined
  /** The page of the commit, as far as the form of its address is known. */
  readonly commitUrl: string | undefined
  readonly forge: string | undefined
  readonly trigger: string | undefined
  readonly url: string | undefined
}

/** Returns the facts of a run from its pipeline's span. */
export function runFacts(span: TraceSpan): RunFacts {
  const own = span.wire.attributes ?? []
  const text = (...names: readonly string[]) => textOf(own, names) ?? textOf(span.resource, names)
  const number = (...names: readonly string[]) => finite(text(...names))
  const source = text('*.cicd.pipeline.trigger.type')?.replaceAll('_', ' ')
  const user = text('*.cicd.pipeline.user.username', 'pipeline.user.username')
  const project = projectOf(text)
  const shownNumber = runNumber(span.runId ?? null, text('pipeline.iid') ?? null)
  const forge = text('vcs.provider.name')
  const sha = text('vcs.ref.head.revision', 'pipeline.sha')
  const projectUrl = text('vcs.repository.url.full')
  return {
    title: `${project?.split('/').at(-1) ?? text('cicd.pipeline.name') ?? span.name}${shownNumber === null ? '' : ` #${shownNumber}`}`,
    project,
    busySeconds: number('*.cicd.pipeline.run.duration', 'pipeline.duration'),
    queueSeconds: number('*.cicd.pipeline.run.queued_duration', 'pipeline.queued_duration'),
    ref: text('vcs.ref.head.name', 'pipeline.ref'),
    sha: sha?.slice(0, 8),
    commit: text('*.vcs.ref.head.revision.message', 'pipeline.commit.message')?.split('\n', 1)[0]?.slice(0, 200),
    trigger: [source, user === undefined ? '' : `by ${user}`].filter(Boolean).join(' ') || undefined,
    url: span.url,
    commitUrl: commitUrl({ forge, projectUrl, runUrl: span.url, sha }),
    forge,
  }
}

/** Returns the path of the project: from its URL, else its owner and its name. */
function projectOf(text: (...names: readonly string[]) => string | undefined): string | undefined {
  const url = safeUrl(text('vcs.repository.url.full') ?? '')
  const owner = text('vcs.owner.name')
  const name = (url === undefined ? undefined : new URL(url).pathname.split('/').at(-1)) || text('vcs.repository.name')
  if (name === undefined) return undefined
  return owner === undefined ? decoded(name) : `${owner}/${decoded(name)}`
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** Returns the first attribute that is set. `*` means the configured name of the service. */
function textOf(attributes: readonly WireAttribute[], names: readonly string[]): string | undefined {
  for (const name of names) {
    const isNamed = name.startsWith('*') ? (key: string) => key.endsWith(name.slice(1)) : (key: string) => key === name
    const text = toValueText(attributes.find(({ key }) => typeof key === 'string' && isNamed(key))?.value)
    if (text !== '') return text
  }
  return undefined
}

function finite(text: string | undefined): number | undefined {
  const number = text === undefined ? Number.NaN : Number(text)
  return Number.isFinite(number) ? number : undefined
}
