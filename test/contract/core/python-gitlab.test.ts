import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Gitlab } from '@gitbeaker/rest'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithPython, preparedPaths } from '../../interop/prepared.ts'
import { RunningCore } from './running-core.ts'

const script = join(import.meta.dirname, 'python_gitlab_contract.py')
const BEGINS = '2026-02-03T04:05:06.789Z'

const notAuthenticated = ['GitlabAuthenticationError', 401, 'invalid_token']
const notFound = ['GitlabGetError', 404]
const noGroup = [...notFound, '404 Group Not Found']
const noProject = [...notFound, '404 Project Not Found']
const noUser = [...notFound, '404 User Not Found']
const accessRequest = {
  made: ['req', 'active', BEGINS, BEGINS],
  again: ['GitlabCreateError', 400, { user_id: ['already exists in source'] }],
  own: ['req'],
  denied: [],
  approved: [20, 20],
  gone: ['GitlabDeleteError', 404, '404 Not found'],
}
const wiki = {
  made: ['Guides/Set-up', 'Set up', 'markdown', '# Start', 'UTF-8'],
  saved: ['Guides/Run', 'Run', 'markdown', 'Later', 'UTF-8'],
  listed: [['Guides/Run', 'Later']],
  attached: ['net_map.svg', 'main', '![net_map.svg]('],
  duplicate: [
    'GitlabCreateError',
    400,
    { base: ['Duplicate page: A page with that title already exists in the file Guides/Run.md'] },
  ],
  after: ['GitlabGetError', 404, '404 Wiki Page Not Found'],
}
const numbered = (letter: string) => [1, 2, 3, 4, 5, 6, 7].map((number) => `${letter}${number}`)

/** The expected results, by step of the script. */
const expected: Readonly<Record<string, unknown>> = {
  personal_token: {
    made: ['laptop', ['api'], '2026-06-01', true, false],
    user: 'pat',
    shown: true,
    list: ['laptop'],
    rotated: ['laptop', '2026-07-01'],
    'renewed user': 'pat',
    after: [false, true],
    old: notAuthenticated,
  },
  project_token: {
    made: ['deploys', 30, true],
    bot: [true, true],
    issue: 'By a bot',
    list: ['deploys'],
    edit: ['GitlabUpdateError', 403, '403 Forbidden'],
    'rotated until': '2026-02-10',
    revoked: notAuthenticated,
  },
  group_token: {
    reached: true,
    write: ['GitlabCreateError', 403, 'insufficient_scope'],
    revoked: notAuthenticated,
  },
  impersonation_token: {
    made: [true, true],
    user: 'imp',
    list: [true],
    shown: [true],
    revoked: notAuthenticated,
  },
  oauth_token: { user: 'joan', 'beyond its scopes': ['GitlabListError', 403, 'insufficient_scope'] },
  job_token: { branches: ['main'], tags: [], elsewhere: ['GitlabListError', 404, '404 Project Not Found'] },
  no_token: {
    groups: ['open'],
    closed: noGroup,
    'unknown token': ['GitlabAuthenticationError', 401, '401 Unauthorized'],
  },
  sudo: {
    'by name': 'sue',
    'by id': 'sue',
    owner: ['sue'],
    'of an unknown user': ['GitlabHttpError', 404, '404 User with ID or username nora Not Found'],
    'of a user': ['GitlabHttpError', 403, '403 Forbidden - Must be admin to use sudo'],
  },
  pages: {
    facts: [1, null, 2, 3, 7, 3],
    iterated: numbered('m'),
    all: numbered('m'),
    third: ['m7'],
    projects: numbered('p'),
    groups: numbered('g'),
    users: numbered('u').toReversed(),
  },
  errors: {
    'path taken': ['GitlabCreateError', 400, 'Failed to save group {:path=>["has already been taken"]}'],
    'no project': noProject,
    'no user': noUser,
    'wrong value': ['GitlabListError', 400, 'state does not have a valid value'],
    taken: ['GitlabCreateError', 409, 'Email has already been taken'],
    member: ['GitlabCreateError', 404, '404 User Not Found'],
  },
  users: {
    made: ['una', 'una Holt', 'una@example.test', 'active', false, BEGINS],
    found: [true],
    name: 'Una Vale',
    block: [true, 'blocked'],
    unblock: [true, 'active'],
    deactivate: [true, 'deactivated'],
    activate: [true, 'active'],
    removed: noUser,
  },
  groups: {
    made: ['ops', 'Runs it', 'internal', null, 'ops'],
    deep: 'ops / lab / deep',
    subgroups: ['lab'],
    descendants: ['deep', 'lab'],
    moved: 'ops/laboratory/deep',
    projects: ['ops/laboratory/deep/tools'],
    removed: noGroup,
  },
  projects: {
    made: ['Tool Box', 'old-home/tools', 'old-home / Tool Box', 'private', true],
    shown: [true, 'Of use', 'old-home'],
    archived: true,
    unarchived: false,
    moved: 'new-home/tools',
    removed: noProject,
  },
  stars: { starred: ['stars/tools'], 'by the user': ['stars/tools'], count: 1, afterwards: 0 },
  members: {
    made: ['mem', 20, '2026-12-31'],
    again: ['GitlabCreateError', 409, 'Member already exists'],
    changed: 30,
    direct: [],
    inherited: [
      ['mem', 30],
      ['root', 50],
    ],
    'one inherited': 30,
    removed: [...notFound, '404 Not found'],
  },
  access_requests: { group: accessRequest, project: accessRequest },
  variables: {
    made: {
      variable_type: 'env_var',
      key: 'KEY',
      value: 'a-secret-value',
      hidden: false,
      protected: false,
      masked: true,
      raw: false,
      environment_scope: 'production',
      description: null,
    },
    ambiguous: ['GitlabGetError', 409],
    staging: 'another-value',
    changed: 'changed-value',
    left: ['a-secret-value'],
    'of the group': ['south', 'file'],
    none: [],
  },
  issues: {
    made: [1, 'Leak', 'It drips', 'opened', ['bug', 'urgent'], '2026-03-01', true, 2],
    people: ['root', ['root']],
    'by label': [1],
    'of the group': [2],
    closed: ['closed', ['bug', 'done'], 'root'],
    open: [2],
    keyset: [1, 2],
    removed: notFound,
  },
  merge_requests: {
    made: [1, 'Draft: Tighten', 'opened', true, 'fix', 'main', ['bug']],
    again: ['GitlabCreateError', 409],
    closed: ['Tighten', 'closed', false],
    'of the group': ['Tighten'],
    removed: notFound,
  },
  repository: {
    made: ['Two files', 'Administrator', { additions: 1, deletions: 0, total: 1 }],
    log: ['Two files', 'Initial commit'],
    'by its short id': true,
    diff: [
      ['src/a.txt', true],
      ['src/b.bin', true],
    ],
    branch: ['feature/one', false, false, true],
    branches: ['feature/one'],
    'shown branch': 'Two files',
    'no branch': notFound,
    tag: ['release/1.0', 'The first', false],
    tags: ['release/1.0'],
    'no tag': notFound,
  },
  picked_commits: {
    picked: [true, true],
    again: ['GitlabCherryPickError', 400],
    history: [2, ['GitlabGetError', 404, '404 Signature Not Found']],
    'merge requests': ['Fix'],
    reverted: ['Revert "Add a"', [true]],
  },
  commit_statuses: {
    made: ['lint', 'pending', 'main', 'https://ci.example.test/1', null],
    again: [
      'GitlabCreateError',
      400,
      'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")',
    ],
    list: [['lint', 'success', 81.5]],
    pipeline: ['success', 'external', 'main', true],
    last: true,
  },
  closing_merge_requests: { 'closed by': ['Fix'], related: [1], closes: ['Leak'], 'related issues': ['Leak'] },
  namespaces: { shown: ['group', 1, 1], size: true, listed: [1], exists: true, activities: true },
  files: {
    file: ['näh.md', 'docs/näh.md', 8, 'base64', 'main'],
    content: 'Grüße\n',
    raw: 'Grüße\n',
    head: '8',
    blob: 8,
    changed: 'Gruß\n',
    tree: ['README.md', 'docs', 'docs/näh.md'],
    removed: notFound,
  },
  group_milestones: {
    made: [1, 'Spring', 'It blooms', 'active', '2026-01-01', '2026-05-31', false],
    place: [true, true],
    shown: true,
    all: ['Winter', 'Spring'],
    search: ['Spring'],
    iids: ['Winter'],
    closed: ['closed', ['Past winter'], ['Spring']],
    active: 'active',
    removed: [notFound, ['Spring']],
    issues: [['Sow', 'Spring']],
    'merge requests': ['Seeds'],
    burndown: [
      ['created', 3, BEGINS],
      ['closed', 3, BEGINS],
    ],
  },
  pipelines: {
    put: 'running',
    list: [32, 31],
    scoped: [31],
    shown: ['failed', 'main', 'push', 63, 'failed', '2026-02-03T04:02:00.000Z'],
    latest: 32,
    jobs: [
      [382, 'unit', 'failed'],
      [380, 'compile', 'success'],
    ],
    bridges: [['deploy', 32]],
    job: ['script_failure', 31],
    'all jobs': [382, 380],
    keyset: [382, 380],
    removed: [...notFound, '404 Not found'],
  },
  project_milestones: { changed: ['v2', '2026-04-01', 'active'], issues: ['Sow'], none: [] },
  application_settings: {
    before: [1, 100_000, 'private', []],
    after: [5, ['*.example.test']],
    refused: ['GitlabUpdateError', 400, { max_attachment_size: ['must be greater than 0'] }],
  },
  applications: {
    made: ['Deploy board', 'https://board.example.test/cb', true, ['api', 'read_user']],
    secret: [true, false],
    listed: true,
    refused: ['GitlabCreateError', 400, { name: ["can't be blank"], redirect_uri: ['must be an absolute URI.'] }],
    removed: ['GitlabDeleteError', 404, '404 Application Not Found'],
  },
  geo_nodes: {
    listed: ['main', 'oslo'],
    urls: [true, 'https://oslo.example.test/'],
    changed: [false, 3, 25],
    repaired: ['main', 'Healthy'],
    status: [true, true, '0.00%'],
    statuses: [true],
    failures: [],
    none: ['GitlabGetError', 404, '404 Status for Geo node not found Not Found'],
    refused: ['GitlabRepairError', 400, '400 Bad request - Repair works only against the primary node'],
    after: [...notFound, '404 Not found'],
  },
  broadcast_messages: {
    made: [
      'Maintenance on Sunday',
      '2026-02-03T04:00:00.000Z',
      '2026-02-03T06:00:00.000Z',
      '#112233',
      '#ffffff',
      [30, 40],
      true,
    ],
    listed: ['Maintenance on Sunday'],
    shown: ['banner', 'indigo', false, null],
    refused: ['GitlabAuthenticationError', 401, '401 Unauthorized'],
    changed: ['It is over', [10], '#112233'],
    removed: ['GitlabGetError', 404, '404 Not found'],
  },
  group_wiki: wiki,
  project_wiki: wiki,
  deploy_tokens: {
    made: [true, true],
    shown: ['foo', 'bar', '2026-02-03T00:00:00.000Z', ['read_registry'], false, true],
    secret: false,
    group: [null, true],
    everywhere: [true, true],
    active: [],
    credential: ['GitlabAuthenticationError', 401, '401 Unauthorized'],
    after: [...notFound, '404 Not found'],
  },
  notification_settings: {
    everything: ['participating', 'watch', true],
    project: ['custom', true, null],
    group: ['global', 'mention'],
    unknown: ['GitlabUpdateError', 400, "'loud' is not a valid level"],
    reset: 'participating',
  },
  email_addresses: {
    own: [['root@home.test', null], true, ['GitlabGetError', 404, '404 Email Not Found']],
    removed: ['GitlabDeleteError', 404, '404 Email Not Found'],
    one_of_other: ['GitlabGetError', 405, '405 Not Allowed'],
    added: ['pia@home.test', true],
    listed: true,
    left: 1,
    invalid: ['GitlabCreateError', 400, { email: ['is invalid'] }],
  },
  comments: {
    notes: ['Because', 'Look here', 'Why?', 'closed'],
    reply: ['Because', 'DiscussionNote'],
    award: ['eyes', 'Note'],
    left: 3,
    comment: ['Look', 'README.md', 1],
    count: 2,
  },
  releases_and_merge: {
    release: ['v1.0', 'One', 'The first'],
    links: ['Tool'],
    left: [],
    merged: ['merged'],
    again: ['GitlabMRClosedError', 405, '405 Method Not Allowed'],
    branches: ['main'],
  },
  hooks: {
    shown: ['https://ci.example.test/in', true, false, true, [{ key: 'X-Team' }], true],
    kept: true,
    listed: [true],
    local: ['GitlabCreateError', 422, 'Invalid url given'],
    after: ['GitlabGetError', 404, '404 Not found'],
  },
  approvals: {
    approved: ['root'],
    again: ['GitlabAuthenticationError', 401, '401 Unauthorized'],
    found: [1],
    rules: [],
    reviewers: ['approved'],
    left: [],
    waiting: ['opened', true],
    canceled: ['GitlabMROnBuildSuccessError', 406, "Can't cancel the automatic merge"],
    closes: [1],
    merged: ['merged'],
    issue: ['closed'],
  },
  snippets: {
    made: ['Rotate logs', 'private', 'a.sh', null],
    shown: true,
    listed: ['Rotate logs'],
    content: 'rotate',
    client: '127.0.0.1',
    refused: ['GitlabCreateError', 400, 'content is empty'],
    changed: ['Rotate', 'rotate -f'],
    removed: ['GitlabDeleteError', 404, '404 Snippet Not Found'],
  },
}

describeWithPython('python-gitlab', () => {
  let core: RunningCore
  let results: Record<string, unknown>

  beforeAll(async () => {
    core = await RunningCore.start()
    results = await resultsAgainst(core)
  })

  afterAll(() => core.close())

  test.each(Object.keys(expected))('%s', (step) => {
    expect(results[step]).toEqual(expected[step])
  })

  test('has no other steps', () => {
    expect(Object.keys(results)).toEqual(Object.keys(expected))
  })
})

async function resultsAgainst(core: RunningCore): Promise<Record<string, unknown>> {
  const credentials = await credentialsOfJoan(core)
  const child = spawn(preparedPaths().python, [script], { stdio: ['pipe', 'pipe', 'inherit'], timeout: 120_000 })
  child.stdin.end(JSON.stringify({ url: core.url, rootToken: core.rootToken, ...credentials }))
  return JSON.parse(await text(child.stdout))
}

/** Returns the credentials that the script cannot get through the API: an OAuth token and a job token. */
async function credentialsOfJoan(core: RunningCore) {
  const root = new Gitlab({ host: core.url, token: core.rootToken })
  const password = 'correct-horse-9'
  const joan = await root.Users.create({
    username: 'joan',
    name: 'Joan Holt',
    email: 'joan@example.test',
    password,
    skipConfirmation: true,
  })
  const group = await root.Groups.create('Jobs', 'jobs')
  const project = await root.Projects.create({ name: 'tools', namespaceId: group.id })
  await root.RepositoryFiles.create(project.id, 'a.txt', 'main', 'a\n', 'Begin')
  await root.ProjectMembers.add(project.id, 30, { userId: joan.id })
  return {
    oauthToken: await core.oauthToken('joan', password, 'read_user'),
    jobToken: await core.jobToken(project.id, joan.id),
    jobProject: project.id,
  }
}
