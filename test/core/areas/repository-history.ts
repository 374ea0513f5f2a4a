import { execFileSync } from 'node:child_process'
import { createCommit, createMergeRequest, listMergeRequestVersions, putPipelineRecord } from '@penstock/core'
import { recordInput, repositoryPath } from '@penstock/testkit'
import { withBranch } from '../http-matrix-repository-things.ts'
import type { MatrixRow } from '../http-matrix-row.ts'
import { commit, diff, listOf, mergeRequest, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea, ThingContext } from '../matrix-area.ts'
import { protectedBranch } from './repository.ts'

const comparison: Shape = {
  exactly: {
    commit,
    commits: listOf(commit),
    diffs: listOf(diff),
    compare_timeout: 'flag',
    compare_same_ref: 'flag',
    web_url: 'text',
  },
}
const contributor: Shape = {
  exactly: { name: 'text', email: 'text', commits: 'int', additions: 'int', deletions: 'int' },
}
const blamedLines: Shape = {
  exactly: {
    commit: {
      exactly: {
        id: 'text',
        parent_ids: { listOf: 'text' },
        message: 'text',
        authored_date: 'time',
        author_name: 'text',
        author_email: 'text',
        committed_date: 'time',
        committer_name: 'text',
        committer_email: 'text',
      },
    },
    lines: { listOf: 'text' },
  },
}
const commitStatus: Shape = {
  exactly: {
    id: 'int',
    sha: 'text',
    ref: 'text?',
    status: 'text',
    name: 'text?',
    target_url: 'text?',
    description: 'text?',
    created_at: 'time?',
    started_at: 'time?',
    finished_at: 'time?',
    allow_failure: 'flag',
    coverage: 'int?',
    pipeline_id: 'int',
    author: 'map?',
  },
}
const versionMembers = {
  id: 'int',
  head_commit_sha: 'text',
  base_commit_sha: 'text?',
  start_commit_sha: 'text?',
  created_at: 'time',
  merge_request_id: 'int',
  state: 'text',
  real_size: 'text',
  patch_id_sha: 'text?',
} as const

const repository = '/projects/:id/repository'
const mergeRequests = '/projects/:id/merge_requests/:merge_request_iid'
const scopes = ['read_repository']

/** Reading code of a private project needs the Reporter role. */
const reads = (path: string, shape: Shape | 'text' | 'bytes', more: Partial<MatrixRow> = {}): MatrixRow => ({
  call: `GET ${path}`,
  may: { project: 20 },
  visitors: 'anyone',
  answer: [200, shape],
  needs: ['changed branch'],
  ...more,
})
const readsCode = (path: string, shape: Shape | 'text' | 'bytes', more: Partial<MatrixRow> = {}): MatrixRow => ({
  ...reads(path, shape, more),
  job: true,
})

export const area: MatrixArea = {
  access: {},
  rows: [
    readsCode(`${repository}/compare`, comparison, { send: { from: 'main', to: 'changed' } }),
    readsCode(`${repository}/merge_base`, commit, { send: { refs: ['main', 'changed'] } }),
    readsCode(`${repository}/contributors`, listOf(contributor)),
    readsCode(`${repository}/archive`, 'bytes', { scopes }),
    readsCode(`${repository}/archive.:format`, 'bytes', { scopes, at: { format: 'zip' } }),
    readsCode(`${repository}/commits/:sha/refs`, listOf({ exactly: { type: 'text', name: 'text' } })),
    readsCode(`${repository}/commits/:sha/sequence`, { exactly: { count: 'int' } }),
    readsCode(
      `${repository}/commits/:sha/signature`,
      { exactly: { signature_type: 'text', verification_status: 'text', key: 'map?', commit_source: 'text' } },
      { needs: ['signed commit'] },
    ),
    readsCode(`${repository}/commits/:sha/merge_requests`, listOf(mergeRequest), {
      needs: ['changed merge request'],
      at: { sha: 'changed' },
    }),
    {
      call: `GET ${repository}/commits/:sha/statuses`,
      may: { project: 10 },
      visitors: 'anyone',
      job: true,
      answer: [200, listOf(commitStatus)],
      needs: ['commit with a pipeline'],
    },
    ...['cherry_pick', 'revert'].map(
      (verb): MatrixRow => ({
        call: `POST ${repository}/commits/:sha/${verb}`,
        may: { project: verb === 'revert' ? 30 : 40 },
        ...(verb === 'cherry_pick' && { except: { 'one role below': protectedBranch } }),
        answer: [201, commit],
        needs: ['picked commit'],
        send: { branch: verb === 'revert' ? 'picked' : 'main' },
      }),
    ),
    {
      call: 'POST /projects/:id/statuses/:sha',
      may: { project: 30 },
      answer: [201, commitStatus],
      needs: ['changed branch'],
      send: { state: 'success', name: 'lint', coverage: 90 },
    },
    readsCode(`${repository}/files/*file_path/blame`, listOf(blamedLines), { scopes, send: { ref: 'main' } }),
    readsCode('/projects/:id/languages', { has: {} }),
    reads(`${mergeRequests}/pipelines`, listOf({ has: { id: 'int', status: 'text', web_url: 'text' } }), {
      needs: ['changed merge request'],
      mayBeEmpty: true,
    }),
    reads(`${mergeRequests}/commits`, listOf(commit), { needs: ['changed merge request'] }),
    reads(`${mergeRequests}/diffs`, listOf(diff), { needs: ['changed merge request'] }),
    reads(
      `${mergeRequests}/changes`,
      { has: { ...(mergeRequest as { has: Record<string, Shape> }).has, changes: listOf(diff), overflow: 'flag' } },
      { needs: ['changed merge request'] },
    ),
    reads(`${mergeRequests}/versions`, listOf({ exactly: versionMembers }), { needs: ['changed merge request'] }),
    reads(
      `${mergeRequests}/versions/:version_id`,
      { exactly: { ...versionMembers, commits: listOf(commit), diffs: listOf(diff) } },
      { needs: ['changed merge request'] },
    ),
  ],
  things: {
    'commit with a pipeline': commitWithPipeline,
    'picked commit': pickedCommit,
    'signed commit': signedCommit,
    'changed branch': changedBranch,
    'changed merge request': changedMergeRequest,
  },
}

async function changedBranch({ server, parent }: ThingContext) {
  const values = await withBranch(server, parent!, 'changed')
  const actions = [{ action: 'update', filePath: 'README.md', content: '# changed\n' }]
  const change = { project: parent!.id, branch: 'changed', commitMessage: 'Change', actions }
  await server.world.perform(server.root, createCommit, change)
  return values
}

const SSH_SIGNATURE = ['-----BEGIN SSH SIGNATURE-----', 'U1NIU0lH', '-----END SSH SIGNATURE-----']

/** Adds a commit with a signature, which Git itself writes: the API creates unsigned commits only. */
async function signedCommit(context: ThingContext) {
  const values = await changedBranch(context)
  const gitdir = repositoryPath(context.server.world.core, context.parent!.id)
  const git = (input: string, ...args: string[]) =>
    execFileSync('git', ['--git-dir', gitdir, ...args], {
      input,
      encoding: 'utf8',
    })
  const [headers, ...message] = git('', 'cat-file', 'commit', String(values.sha)).split('\n\n')
  const signed = [`${headers}\ngpgsig ${SSH_SIGNATURE.join('\n ')}`, ...message].join('\n\n')
  return { sha: git(signed, 'hash-object', '-t', 'commit', '-w', '--stdin').trim() }
}

let pickedCommits = 0

/** Adds a file on a branch that `main` does not have yet. */
async function pickedCommit({ server, parent }: ThingContext) {
  await withBranch(server, parent!, 'picked')
  const filePath = `picked-${++pickedCommits}.md`
  const actions = [{ action: 'create', filePath, content: 'x' }]
  const change = { project: parent!.id, branch: 'picked', commitMessage: 'Pick me', actions }
  const { sha } = await server.world.perform(server.root, createCommit, change)
  return { sha }
}

async function commitWithPipeline(context: ThingContext) {
  const { world, root } = context.server
  const values = await changedBranch(context)
  const project = context.parent!.id
  const id = 700_000 + project
  await world.perform(
    root,
    putPipelineRecord,
    recordInput({
      project,
      pipelineId: id,
      objectAttributes: { id, status: 'success', ref: 'main', sha: values.sha },
      builds: [{ id, status: 'success', name: 'test', stage: 'test' }],
    }),
  )
  return values
}

async function changedMergeRequest(context: ThingContext) {
  const { world, root } = context.server
  const values = await changedBranch(context)
  const project = context.parent!.id
  const draft = { project, title: 'Change', sourceBranch: 'changed', targetBranch: 'main' }
  const { iid } = await world.perform(root, createMergeRequest, draft)
  const { items } = await world.perform(root, listMergeRequestVersions, { project, mergeRequestIid: iid })
  return { ...values, merge_request_iid: iid, version_id: items[0]!.id }
}
