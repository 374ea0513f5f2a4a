import { createTag } from '@penstock/core'
import { withBranch, withRepository } from '../http-matrix-repository-things.ts'
import type { Answer, MatrixRow } from '../http-matrix-row.ts'
import { commit, diff, listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea } from '../matrix-area.ts'

const branch: Shape = {
  has: { name: 'text', commit, merged: 'flag', protected: 'flag', default: 'flag', can_push: 'flag', web_url: 'text' },
}
const tag: Shape = { has: { name: 'text', message: 'text', target: 'text', commit, protected: 'flag' } }
const treeEntry: Shape = { has: { id: 'text', name: 'text', type: 'text', path: 'text', mode: 'text' } }
const blob: Shape = { has: { size: 'int', encoding: { is: 'base64' }, content: 'text', sha: 'text' } }
const file: Shape = {
  has: {
    file_name: 'text',
    file_path: 'text',
    size: 'int',
    encoding: { is: 'base64' },
    content: 'text',
    content_sha256: 'text',
    ref: 'text',
    blob_id: 'text',
    commit_id: 'text',
    last_commit_id: 'text',
  },
}
const changedFile: Shape = { exactly: { file_path: 'text', branch: 'text' } }

const repository = '/projects/:id/repository'
const oneFile = `${repository}/files/*file_path`
const commits = { branch: 'main', commit_message: 'Change' }

/** Reading code of a private project needs the Reporter role, and changing code the Developer role. */
const reads = (path: string, shape: Shape | 'text', more: Partial<MatrixRow> = {}): MatrixRow => ({
  call: `GET ${path}`,
  may: { project: 20 },
  visitors: 'anyone',
  job: true,
  answer: [200, shape],
  needs: ['repository'],
  ...more,
})
const writes = (call: string, answer: MatrixRow['answer'], more: Partial<MatrixRow> = {}): MatrixRow => ({
  call,
  may: { project: 30 },
  answer,
  needs: ['repository'],
  ...more,
})
/** The answer to Developers, who may not push to the default branch unless its protection allows it. */
export const protectedBranch: Answer = {
  status: 403,
  body: { message: '403 Forbidden - You are not allowed to push into this branch' },
}
const pushes = (call: string, answer: MatrixRow['answer'], more: Partial<MatrixRow> = {}): MatrixRow => ({
  ...writes(call, answer, more),
  may: { project: 40 },
  except: { 'one role below': protectedBranch },
})

export const area: MatrixArea = {
  access: {
    read_repository: {
      rule: 'Reporters and higher read private code',
      project: '---nnyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    push_code: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
  },

  rows: [
    reads(`${repository}/commits`, listOf(commit)),
    reads(`${repository}/commits/:sha`, commit),
    reads(`${repository}/commits/:sha/diff`, listOf(diff)),
    reads(`${repository}/branches`, listOf(branch)),
    reads(`${repository}/branches/*branch`, branch, { needs: ['branch'] }),
    reads(`${repository}/tags`, listOf(tag), { needs: ['tag'] }),
    reads(`${repository}/tags/*tag_name`, tag, { needs: ['tag'] }),
    reads(`${repository}/tree`, listOf(treeEntry)),
    reads(`${repository}/blobs/:sha`, blob, { at: { sha: '{blob}' } }),
    reads(`${repository}/blobs/:sha/raw`, 'text', { at: { sha: '{blob}' } }),
    reads(oneFile, file, { scopes: ['read_repository'], send: { ref: 'main' } }),
    reads(`${oneFile}/raw`, 'text', { scopes: ['read_repository'] }),
    pushes(`POST ${repository}/commits`, [201, commit], {
      send: { ...commits, actions: [{ action: 'create', file_path: 'new.md', content: 'x' }] },
    }),
    writes(`POST ${repository}/branches`, [201, branch], { send: { branch: 'new', ref: 'main' } }),
    writes(`DELETE ${repository}/branches/*branch`, [204], { needs: ['branch'] }),
    writes(`POST ${repository}/tags`, [201, tag], { send: { tag_name: 'new', ref: 'main' } }),
    writes(`DELETE ${repository}/tags/*tag_name`, [204], { needs: ['tag'] }),
    pushes(`POST ${oneFile}`, [201, changedFile], { at: { file_path: 'new.md' }, send: { ...commits, content: 'x' } }),
    pushes(`PUT ${oneFile}`, [200, changedFile], { send: { ...commits, content: 'x' } }),
    pushes(`DELETE ${oneFile}`, [204], { send: commits }),
  ],

  things: {
    repository: ({ server, parent }) => withRepository(server, parent!),
    branch: ({ server, parent }) => withBranch(server, parent!),
    tag: async ({ server, parent }) => {
      const values = await withRepository(server, parent!)
      await server.world.perform(server.root, createTag, { project: parent!.id, tagName: 'v1', ref: 'main' })
      return { ...values, tag_name: 'v1' }
    },
  },
}
