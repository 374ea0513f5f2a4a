import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hookActions } from './hook-actions.ts'
import { HookedProject } from './hooked-project.ts'
import { publishedDifferences, publishedPayloads } from './published-payloads.ts'

interface Payload {
  /** A key of `publishedPayloads`. */
  readonly kind: string
  readonly body: Readonly<Record<string, unknown>>
}

const subjects = ['note', 'snippet', 'merge_request', 'commit', 'issue'] as const

function kindOf(body: Payload['body']): string {
  const kind = String(body.object_kind ?? body.event_name)
  return kind === 'note' || kind === 'emoji' ? `${kind} on ${subjects.find((subject) => subject in body)}` : kind
}

let captured: Promise<readonly Payload[]> | undefined

/** Returns the payloads of all changes. The first test that calls this makes the changes. */
const capturedPayloads = (): Promise<readonly Payload[]> => (captured ??= capturePayloads())

async function capturePayloads(): Promise<readonly Payload[]> {
  const project = await HookedProject.start()
  const payloads: Payload[] = []
  for (const { act } of hookActions) {
    await act(project)
    payloads.push(...(await project.calls()).map(({ body }) => ({ kind: kindOf(body), body })))
  }
  return payloads
}

/** Returns the distinct differences of the payloads of each kind, without kinds that have none. */
function byKind(
  payloads: readonly Payload[],
  each: (payload: Payload) => readonly string[],
): Record<string, readonly string[]> {
  const found: Record<string, Set<string>> = {}
  for (const payload of payloads) {
    found[payload.kind] = new Set([...(found[payload.kind] ?? []), ...each(payload)])
  }
  return Object.fromEntries(
    Object.entries(found).flatMap(([kind, lines]) => (lines.size === 0 ? [] : [[kind, [...lines].toSorted()]])),
  )
}

/** Members that we send beyond the published ones. */
const beyondPublished: Readonly<Record<string, readonly string[]>> = {
  // A client that shows deployments by branch has no other source for it.
  deployment: ['.ref is not published'],
  // client-go reads the snippet by this name.
  'emoji on snippet': ['.project_snippet is not published'],
  // Another Penstock, as receiver, needs them for the same telemetry.
  pipeline: ['.builds[].retries_count is not published', '.object_attributes.started_at is not published'],
}

test('payloads have the published members, with their types', async () => {
  const payloads = await capturedPayloads()
  expect([...new Set(payloads.map(({ kind }) => kind))].toSorted()).toEqual(Object.keys(publishedPayloads).toSorted())
  expect(byKind(payloads, ({ kind, body }) => publishedDifferences(body, publishedPayloads[kind]!))).toEqual(
    beyondPublished,
  )
})

/** The types of gitbeaker by kind. It has none for milestones, tokens and updates of a repository. */
const gitbeakerTypes: Readonly<Record<string, string>> = {
  push: 'WebhookPushEventSchema',
  tag_push: 'WebhookTagEventSchema',
  issue: 'WebhookIssueEventSchema',
  'note on commit': 'WebhookCommitNoteEventSchema',
  'note on merge_request': 'WebhookMergeRequestNoteEventSchema',
  'note on issue': 'WebhookIssueNoteEventSchema',
  'note on snippet': 'WebhookSnippetNoteEventSchema',
  merge_request: 'WebhookMergeRequestEventSchema',
  wiki_page: 'WebhookWikiEventSchema',
  pipeline: 'WebhookPipelineEventSchema',
  build: 'WebhookJobEventSchema',
  deployment: 'WebhookDeploymentEventSchema',
  feature_flag: 'WebhookFeatureFlagEventSchema',
  release: 'WebhookReleaseEventSchema',
  'emoji on issue': 'WebhookEmojiEventSchema',
  'emoji on note': 'WebhookEmojiEventSchema',
}

/** The differences from the types of gitbeaker that may remain, by reason. */
const gitbeakerDiffers: readonly (readonly [reason: string, difference: RegExp])[] = [
  ['the published payload allows null', /\.(description|avatar_url|user_avatar|group_id|milestone_id|name) is null$/],
  ['no one is assigned', /\.(assignee_id is null|assignees? is missing)$/],
  ['nothing has been edited, locked or measured', /\.(updated_by_id|last_edited_at|last_edited_by_id) is null$/],
  ['nothing has been edited, locked or measured', /\.(discussion_locked|health_status|human_\w+) is null$/],
  ['it is not merged, or has ended only later', /\.(merge_commit_sha|duration|finished_at) is null$/],
  ['the branch or tag was removed', /^\.checkout_sha is null$/],
  ['the note is not on a commit or its diff', /^\.object_attributes\.(commit_id|line_code) is null$/],
  ['the deployment has no job or URL', /^\.(deployable_id|deployable_url|environment_external_url) is null$/],
  ['only the changed members are there', /^\.changes\.\w+ is missing$/],
  ['a new object has no values before', /^\.changes\.updated_at\.previous is null$/],
  ['pipelines and jobs have a brief project', /^\.project\.(homepage|url|ssh_url|http_url) is missing$/],
  ['it is no child pipeline', /^\.source_pipeline is missing$/],
  ['the published payload has event_type instead', /^\.event_name is missing$/],
  ['confidential objects and removed reactions have another', /^\.event_type is of another type$/],
  ['the reaction is not on a note', /^\.note is missing$/],
  ['only incidents have it', /\.(escalation_policy|escalation_status) is missing$/],
  ['the published repository lacks it', /^\.repository\.(git_http_url|git_ssh_url|visibility_level) is missing$/],
  ['it is not published', /\.(branch_name|position|expires_at) is missing$/],
  ['the published id is a number', /^\.object_attributes\.noteable_id is of another type$/],
]

/** Compiles the payloads against the types of gitbeaker. Returns the differences of each, in the order of the payloads. */
function comparedWithGitbeaker(compared: readonly Payload[]): readonly (readonly string[])[] {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-payload-types-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const require = createRequire(import.meta.url)
  const core = createRequire(require.resolve('@gitbeaker/rest')).resolve('@gitbeaker/core')
  const types = JSON.stringify(join(dirname(core), 'index.d.ts'))
  const differences = JSON.stringify(join(import.meta.dirname, 'type-differences.ts'))
  // A value that is not of the type never is an error, which names all members of the union.
  const statements = compared.map(({ kind, body }, index) => {
    const type = `import(${types}).${gitbeakerTypes[kind]}`
    const found = `{} as unknown as import(${differences}).TypeDifferences<typeof payload${index}, ${type}>`
    return `const payload${index} = ${JSON.stringify(body)} as const; export const found${index}: never = ${found}`
  })
  const file = 'payloads.ts'
  writeFileSync(join(directory, file), statements.join('\n'))
  const compilerOptions = {
    ...{ strict: true, noEmit: true, skipLibCheck: true, noErrorTruncation: true, types: [], target: 'es2022' },
    ...{
      module: 'esnext',
      moduleResolution: 'bundler',
      exactOptionalPropertyTypes: true,
      allowImportingTsExtensions: true,
    },
  }
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }))
  const tsc = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc')
  const { stdout } = spawnSync(process.execPath, [tsc, '-p', directory, '--pretty', 'false'], { encoding: 'utf8' })
  const found: string[][] = compared.map(() => [])
  for (const line of stdout.split('\n').filter((each) => /^\S/.test(each))) {
    const [, at, union] =
      /payloads\.ts\((\d+),\d+\): error TS2322: Type (.+) is not assignable to type 'never'/.exec(line) ?? []
    if (at === undefined) throw new Error(`the compiler says: ${line}`)
    found[Number(at) - 1]!.push(...[...union!.matchAll(/"([^"]*)"/g)].map(([, text]) => text!))
  }
  return found
}

test('payloads are of the types of gitbeaker, except for named members', async () => {
  const payloads = await capturedPayloads()
  const compared = payloads.filter(({ kind }) => kind in gitbeakerTypes)
  const found = comparedWithGitbeaker(compared)
  const isNamed = (line: string) => gitbeakerDiffers.some(([, difference]) => difference.test(line))
  expect(byKind(compared, (payload) => found[compared.indexOf(payload)]!.filter((line) => !isNamed(line)))).toEqual({})
  const unused = gitbeakerDiffers.filter(([, difference]) => !found.flat().some((line) => difference.test(line)))
  expect(unused).toEqual([])
})

test('the comparison with gitbeaker finds members that are missing, null or of another type', async () => {
  const payloads = await capturedPayloads()
  const { body } = payloads.find(({ kind }) => kind === 'feature_flag')!
  const { user_url: _, ...others } = body
  const damaged = { ...others, project: null, object_attributes: { ...(body.object_attributes as object), id: '6' } }
  const [before, after] = comparedWithGitbeaker([body, damaged].map((each) => ({ kind: 'feature_flag', body: each })))
  expect(after!.filter((line) => !before!.includes(line)).toSorted()).toEqual([
    '.object_attributes.id is of another type',
    '.project is null',
    '.user_url is missing',
  ])
})
