import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type RecordedRequest, type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { describe, expect, onTestFinished, test } from 'vitest'
import { penstock } from '../command-line.ts'
import { receiver } from './backfill-run.ts'
import { temporaryDirectory } from './temporary-directory.ts'

const token = 'canary-token-7'
const publicUrl = 'https://penstock.example.com'

interface Hook {
  readonly id: number
  readonly body: Readonly<Record<string, unknown>>
}

/** A forge with webhooks. Lists of runs are empty. */
class HookForge {
  readonly hooks: Hook[] = [
    { id: 1, body: { url: 'https://other.example.com', config: { url: 'https://other.example.com' } } },
  ]
  scopes = 'repo, admin:org_hook'
  gitlabScopes = ['api']
  permissions: unknown = { admin: true, project_access: { access_level: 40 } }
  server!: ScriptedServer
  trouble: (request: RecordedRequest) => ScriptedReply | undefined = () => undefined

  static async start(): Promise<HookForge> {
    const forge = new HookForge()
    forge.server = await ScriptedServer.start((request) => forge.trouble(request) ?? forge.#reply(request))
    onTestFinished(() => forge.server.close())
    return forge
  }

  #reply({ method, path, body }: RecordedRequest): ScriptedReply {
    const { pathname, searchParams } = new URL(path, 'http://forge')
    const page = Number(searchParams.get('page') ?? 1)
    if (method !== 'GET') {
      const given = JSON.parse(Buffer.from(body).toString())
      const id = Number(/hooks\/(\d+)$/.exec(pathname)?.[1] ?? this.hooks.length + 1)
      const at = this.hooks.findIndex((hook) => hook.id === id)
      if (at >= 0) this.hooks.splice(at, 1)
      this.hooks.push({ id, body: given })
      return this.#json({ id }, method === 'POST' ? 201 : 200)
    }
    if (pathname.endsWith('/hooks'))
      return this.#json(page > 1 ? [] : this.hooks.map(({ id, body: hook }) => ({ id, ...hook })))
    if (pathname.endsWith('/personal_access_tokens/self')) return this.#json({ scopes: this.gitlabScopes })
    if (pathname.endsWith('/repos')) return this.#json(page > 1 ? [] : [{ id: 5, full_name: 'acme/app' }])
    if (pathname.endsWith('/projects')) return this.#json(page > 1 ? [] : [{ id: 17, path_with_namespace: 'acme/app' }])
    if (pathname.endsWith('/actions/runs')) return this.#json({ total_count: 0, workflow_runs: [] })
    if (pathname.endsWith('/pipelines')) return this.#json([])
    return this.#json({ id: 17, path_with_namespace: 'acme/app', permissions: this.permissions })
  }

  #json(value: unknown, status = 200): ScriptedReply {
    const headers = { 'content-type': 'application/json', 'x-oauth-scopes': this.scopes }
    return { play: 'reply', status, headers, body: JSON.stringify(value) }
  }
}

async function stage() {
  const forge = await HookForge.start()
  const sink = await receiver()
  const directory = await temporaryDirectory()
  onTestFinished(() => directory[Symbol.asyncDispose]())
  const connect = (flags: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    penstock(
      ['connect', forge.server.url, '--public-url', publicUrl, '--source', 'acme', '--endpoint', sink.url, ...flags],
      { env: { PENSTOCK_FORGE_TOKEN: token, PENSTOCK_DATA_DIR: directory.path, ...env } },
    )
  const file = join(directory.path, 'sources.json')
  const secret = async (): Promise<string> => JSON.parse(await readFile(file, 'utf8')).acme.secretToken
  return { forge, sink, connect, file, secret }
}

const hookUrl = `${publicUrl}/hooks/pipelines/acme`

const forges = [
  {
    forge: 'github',
    owner: ['--project', 'acme/app'],
    path: '/api/v3/repos/acme/app/hooks',
    update: 'PATCH',
    hook: (secret: string) => ({
      active: true,
      events: ['workflow_run', 'workflow_job'],
      config: { insecure_ssl: '0', url: hookUrl, content_type: 'json', secret },
    }),
  },
  {
    forge: 'github',
    owner: ['--organization', 'acme'],
    path: '/api/v3/orgs/acme/hooks',
    update: 'PATCH',
    hook: (secret: string) => ({ config: { insecure_ssl: '0', url: hookUrl, content_type: 'json', secret } }),
  },
  {
    forge: 'gitlab',
    owner: ['--project', 'acme/app'],
    path: '/api/v4/projects/acme%2Fapp/hooks',
    update: 'PUT',
    hook: (secret: string) => ({ url: hookUrl, token: secret, pipeline_events: true, job_events: true }),
  },
  {
    forge: 'gitlab',
    owner: ['--group', 'acme'],
    path: '/api/v4/groups/acme/hooks',
    update: 'PUT',
    hook: (secret: string) => ({ url: hookUrl, token: secret }),
  },
  {
    forge: 'gitea',
    owner: ['--project', 'acme/app'],
    path: '/api/v1/repos/acme/app/hooks',
    update: 'PATCH',
    hook: (secret: string) => ({ config: { url: hookUrl, content_type: 'json', secret } }),
  },
  {
    forge: 'forgejo',
    owner: ['--project', 'acme/app'],
    path: '/api/v1/repos/acme/app/hooks',
    update: 'PATCH',
    hook: (secret: string) => ({
      events: ['action_run_success', 'action_run_failure', 'action_run_recover'],
      config: { url: hookUrl, content_type: 'json', secret },
    }),
  },
] as const

describe.each(forges)('connect to $forge with $owner', ({ forge: name, owner, path, update, hook }) => {
  test('installs the webhook with the secret of a new source, and updates it in the second run', async () => {
    const { forge, connect, file, secret } = await stage()
    const first = await connect(['--forge', name, ...owner])
    expect(first).toMatchObject({ exitCode: 0, stderr: '' })
    expect(first.stdout).toContain(`source acme added to ${file}, with the secret of the webhook\n`)
    expect(first.stdout).toContain(` installed: ${hookUrl}\n`)
    expect(first.stdout).toContain(`set PENSTOCK_SOURCES=${file} for penstock serve`)
    expect(first.stdout.trimEnd().split('\n').at(-1)).toBe(`console: ${publicUrl}/`)
    expect(forge.hooks).toHaveLength(2)
    expect(forge.hooks[1]?.body).toMatchObject(hook(await secret()))
    expect((await stat(file)).mode & 0o777).toBe(0o600)

    const second = await connect(['--forge', name, ...owner], { PENSTOCK_SOURCES: file })
    expect(second).toMatchObject({ exitCode: 0, stderr: '' })
    expect(second.stdout).toContain(' updated: ')
    expect(second.stdout).not.toContain('set PENSTOCK_SOURCES')
    expect(forge.hooks).toHaveLength(2)
    const changes = forge.server.requests.filter(({ method }) => method !== 'GET')
    expect(changes.map((request) => `${request.method} ${request.path}`)).toEqual([
      `POST ${path}`,
      `${update} ${path}/2`,
    ])
    for (const text of [first.stdout, first.stderr, second.stdout, second.stderr]) {
      expect(text).not.toContain(await secret())
      expect(text).not.toContain('canary')
    }
  })
})

describe('a token that may not install webhooks', () => {
  test.each([
    {
      forge: 'github',
      owner: ['--project', 'acme/app'],
      lacks: 'repo or admin:repo_hook or write:repo_hook',
      has: 'gist',
    },
    { forge: 'github', owner: ['--group', 'acme'], lacks: 'admin:org_hook', has: 'gist' },
    { forge: 'gitlab', owner: ['--project', 'acme/app'], lacks: 'api', has: 'read_api' },
  ])('$forge: names the missing scope, and changes nothing', async ({ forge: name, owner, lacks, has }) => {
    const { forge, connect } = await stage()
    forge.scopes = 'gist'
    forge.gitlabScopes = ['read_api']
    const { exitCode, stdout, stderr } = await connect(['--forge', name, ...owner])
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `penstock: the access token lacks the scope ${lacks}; its scopes: ${has}\n`,
    })
    expect(forge.hooks).toHaveLength(1)
  })

  test('names the missing right of its user', async () => {
    const { forge, connect } = await stage()
    forge.permissions = { admin: false }
    const { exitCode, stderr } = await connect(['--forge', 'gitea', '--project', 'acme/app'])
    expect(exitCode).toBe(1)
    expect(stderr).toBe(
      'penstock: the access token may not install webhooks of acme/app: its user must administer the project\n',
    )
  })

  test('says so if only the list of webhooks is refused', async () => {
    const { forge, connect } = await stage()
    forge.trouble = ({ path }) => (path.includes('/hooks') ? { play: 'reply', status: 403 } : undefined)
    const { exitCode, stderr } = await connect(['--forge', 'gitea', '--project', 'acme/app'])
    expect(exitCode).toBe(1)
    expect(stderr).toContain(
      'HTTP 403: the access token may not install webhooks of acme/app; it needs write:repository',
    )
  })
})

test('neither the token nor the secret is sent to the target of a redirect', async () => {
  const { forge, connect } = await stage()
  const elsewhere = await receiver()
  forge.trouble = ({ method }) =>
    method === 'POST' ? { play: 'reply', status: 307, headers: { location: elsewhere.url } } : undefined
  const { exitCode, stderr } = await connect(['--forge', 'github', '--project', 'acme/app'])
  expect(exitCode).toBe(1)
  expect(stderr).toContain(`it redirects to ${elsewhere.url}/; the access token is not sent there`)
  expect(elsewhere.requests).toEqual([])
})

test('a refusal that quotes the secret or the token is printed without them', async () => {
  const { forge, connect, secret } = await stage()
  forge.trouble = ({ method, body }) => {
    if (method !== 'POST') return undefined
    const given = JSON.parse(Buffer.from(body).toString()).config.secret
    return { play: 'reply', status: 422, body: JSON.stringify({ message: `bad secret ${given} of ${token}` }) }
  }
  const { exitCode, stderr } = await connect(['--forge', 'github', '--project', 'acme/app'])
  expect(exitCode).toBe(1)
  expect(stderr).toContain('bad secret [secret] of [token]')
  expect(stderr).not.toContain(await secret())
})

test.each([
  ['a project without its owner', ['--project', 'acme'], '{}', 'the project must have the form owner/name'],
  ['an answer that is no list', ['--project', 'acme/app'], '{"hooks":null}', 'the answer is not a JSON list'],
])('%s is an error without a stack', async (_, owner, hooks, message) => {
  const { forge, connect } = await stage()
  forge.trouble = ({ path }) => (path.includes('/hooks') ? { play: 'reply', status: 200, body: hooks } : undefined)
  const { exitCode, stderr } = await connect(['--forge', 'github', ...owner])
  expect(exitCode).toBe(1)
  expect(stderr).toContain(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
})

test('the id of a webhook leads to no other path', async () => {
  const { forge, connect } = await stage()
  forge.trouble = ({ method, path }) => {
    if (method !== 'GET' || !path.includes('/hooks')) return undefined
    const hooks = path.endsWith('page=1') ? [{ id: '..', config: { url: hookUrl } }] : []
    return { play: 'reply', status: 200, body: JSON.stringify(hooks) }
  }
  const { exitCode, stderr } = await connect(['--forge', 'github', '--project', 'acme/app'])
  expect(exitCode).toBe(1)
  expect(stderr).toContain('".." is no name in a path')
  expect(forge.server.requests.every(({ method }) => method === 'GET')).toBe(true)
})

test.each(['circleci', 'buildkite', 'azure', 'bitbucket', 'drone', 'jenkins'])(
  '%s: prints the steps, without the secret',
  async (name) => {
    const { connect, secret, file } = await stage()
    const { exitCode, stdout } = await connect(['--forge', name, '--project', 'gh/acme/app', '--days', '0'])
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`  URL: ${hookUrl}\n  secret: the secretToken of the source in ${file}\n`)
    expect(stdout).not.toContain(await secret())
  },
)

test.each([
  { flags: ['--project', 'a/b'], complaint: 'name the kind of forge at 127.0.0.1 with --forge' },
  { flags: ['--forge', 'github'], complaint: 'name what to connect: --project or --group' },
  { flags: ['--forge', 'github', '--project', 'a/b', '--source', '_a'], complaint: '--source must have 1 to 64' },
  {
    flags: ['--forge', 'github', '--project', 'a/b', '--public-url', 'https://:canary@a.example'],
    complaint: '--public-url must be a URL that',
  },
  { flags: ['--forge', 'drone', '--group', 'a'], complaint: '--forge drone: name each project with --project' },
  { flags: ['--forge', 'cdevents', '--project', 'a'], complaint: '--forge cdevents: backfill reads the API of' },
])('usage: $complaint', async ({ flags, complaint }) => {
  const { forge, connect } = await stage()
  const { exitCode, stderr } = await connect(flags)
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`penstock: ${complaint}`)
  expect(forge.server.requests).toEqual([])
})

test('sources that are no file are not changed, nor printed', async () => {
  const { connect } = await stage()
  const outcome = await connect(['--forge', 'github', '--project', 'a/b'], {
    PENSTOCK_SOURCES: '{"acme":{"secretToken":"canary-1"}}',
  })
  expect(outcome).toMatchObject({ exitCode: 2, stdout: '' })
  expect(outcome.stderr).toContain('PENSTOCK_SOURCES contains the sources themselves; move them into a file')
  expect(outcome.stderr).not.toContain('canary')
})
