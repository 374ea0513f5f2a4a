import type { MatrixRow } from './http-matrix-row.ts'
import {
  blob,
  branch,
  changedFile,
  commit,
  diff,
  file,
  listOf,
  type Shape,
  tag,
  treeEntry,
} from './http-matrix-shapes.ts'

const repository = '/projects/:id/repository'
const oneFile = `${repository}/files/*file_path`
const commits = { branch: 'main', commit_message: 'Change' }

const reads = (path: string, shape: Shape | 'text', more: Partial<MatrixRow> = {}): MatrixRow => ({
  call: `GET ${path}`,
  may: { project: 20 },
  visitors: 'anyone',
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

/** Reading code of a private project needs the Reporter role, and changing code the Developer role. */
export const repositoryRows: readonly MatrixRow[] = [
  reads(`${repository}/commits`, listOf(commit)),
  reads(`${repository}/commits/:sha`, commit, { job: true }),
  reads(`${repository}/commits/:sha/diff`, listOf(diff)),
  reads(`${repository}/branches`, listOf(branch), { job: true }),
  reads(`${repository}/branches/*branch`, branch, { needs: ['branch'] }),
  reads(`${repository}/tags`, listOf(tag), { job: true, needs: ['tag'] }),
  reads(`${repository}/tags/*tag_name`, tag, { needs: ['tag'] }),
  reads(`${repository}/tree`, listOf(treeEntry)),
  reads(`${repository}/blobs/:sha`, blob, { at: { sha: '{blob}' } }),
  reads(`${repository}/blobs/:sha/raw`, 'text', { at: { sha: '{blob}' } }),
  reads(oneFile, file, { scopes: ['read_repository'], send: { ref: 'main' } }),
  reads(`${oneFile}/raw`, 'text', { job: true, scopes: ['read_repository'] }),
  writes(`POST ${repository}/commits`, [201, commit], {
    send: { ...commits, actions: [{ action: 'create', file_path: 'new.md', content: 'x' }] },
  }),
  writes(`POST ${repository}/branches`, [201, branch], { send: { branch: 'new', ref: 'main' } }),
  writes(`DELETE ${repository}/branches/*branch`, [204], { needs: ['branch'] }),
  writes(`POST ${repository}/tags`, [201, tag], { send: { tag_name: 'new', ref: 'main' } }),
  writes(`DELETE ${repository}/tags/*tag_name`, [204], { needs: ['tag'] }),
  writes(`POST ${oneFile}`, [201, changedFile], { at: { file_path: 'new.md' }, send: { ...commits, content: 'x' } }),
  writes(`PUT ${oneFile}`, [200, changedFile], { send: { ...commits, content: 'x' } }),
  writes(`DELETE ${oneFile}`, [204], { send: commits }),
]
