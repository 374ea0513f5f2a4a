import {
  type Branch,
  type ChangedFile,
  type FileDiff,
  headerName,
  type RepositoryFile,
  type RepositoryTreeEntry,
  signatureTime,
  type Tag,
} from '@penstock/core'
import { z } from 'zod'
import type { Shape } from '../../routing/route.ts'
import { commitJson, commitSchema } from './commit-shape.ts'

export const diffShape: Shape<FileDiff> = {
  schema: z
    .object({
      diff: z.string(),
      new_path: z.string(),
      old_path: z.string(),
      a_mode: z.string(),
      b_mode: z.string(),
      new_file: z.boolean(),
      renamed_file: z.boolean(),
      deleted_file: z.boolean(),
      generated_file: z.boolean(),
      collapsed: z.boolean(),
      too_large: z.boolean(),
    })
    .meta({ id: 'Diff' }),
  of: ({ diff, newPath, oldPath, newMode, oldMode, isRenamed, isTooLarge }) => ({
    diff,
    new_path: newPath,
    old_path: oldPath,
    a_mode: oldMode ?? '0',
    b_mode: newMode ?? '0',
    new_file: oldMode === undefined,
    renamed_file: isRenamed,
    deleted_file: newMode === undefined,
    generated_file: false,
    collapsed: false,
    too_large: isTooLarge,
  }),
}

export const branchShape: Shape<Branch> = {
  schema: z
    .object({
      name: z.string(),
      commit: commitSchema,
      merged: z.boolean(),
      protected: z.boolean(),
      developers_can_push: z.boolean(),
      developers_can_merge: z.boolean(),
      can_push: z.boolean(),
      default: z.boolean(),
      web_url: z.string(),
    })
    .meta({ id: 'Branch' }),
  of: ({ name, commit, isMerged, isDefault, ...branch }, context) => ({
    name,
    commit: commitJson(commit, context),
    merged: isMerged,
    protected: branch.isProtected,
    developers_can_push: branch.developersCanPush,
    developers_can_merge: branch.developersCanMerge,
    can_push: branch.canPush,
    default: isDefault,
    web_url: `${context.externalUrl}/${commit.project.fullPath}/-/tree/${encodePath(name)}`,
  }),
}

export const tagShape: Shape<Tag> = {
  schema: z
    .object({
      name: z.string(),
      message: z.string(),
      target: z.string(),
      commit: commitSchema,
      release: z.null(),
      protected: z.boolean(),
      created_at: z.string().nullable(),
    })
    .meta({ id: 'Tag' }),
  of: ({ name, target, commit, annotation }, context) => ({
    name,
    message: annotation?.message ?? '',
    target,
    commit: commitJson(commit, context),
    release: null,
    protected: false,
    created_at: annotation?.tagger ? signatureTime(annotation.tagger) : null,
  }),
}

export const treeEntryShape: Shape<RepositoryTreeEntry> = {
  schema: z
    .object({
      id: z.string(),
      name: z.string(),
      type: z.enum(['tree', 'blob', 'commit']),
      path: z.string(),
      mode: z.string(),
    })
    .meta({ id: 'TreeEntry' }),
  of: ({ sha, name, type, path, mode }) => ({ id: sha, name, type, path, mode }),
}

export const changedFileShape: Shape<ChangedFile> = {
  schema: z.object({ file_path: z.string(), branch: z.string() }).meta({ id: 'ChangedFile' }),
  of: ({ path, branch }) => ({ file_path: path, branch }),
}

export const blobShape: Shape<{ readonly sha: string; readonly bytes: Uint8Array }> = {
  schema: z
    .object({ size: z.int(), encoding: z.literal('base64'), content: z.string(), sha: z.string() })
    .meta({ id: 'Blob' }),
  of: ({ sha, bytes }) => ({ size: bytes.length, encoding: 'base64', content: base64(bytes), sha }),
}

/** Returns the metadata of a file, which is sent in the body and as headers. */
const fileFacts = (file: RepositoryFile) => ({
  file_name: file.name,
  file_path: file.path,
  size: file.bytes.length,
  encoding: 'base64',
  content_sha256: file.sha256,
  ref: file.ref,
  blob_id: file.blobSha,
  commit_id: file.commitSha,
  last_commit_id: file.lastCommitSha,
  execute_filemode: file.isExecutable,
})

export const fileShape: Shape<RepositoryFile> = {
  schema: z
    .object({
      file_name: z.string(),
      file_path: z.string(),
      size: z.int(),
      encoding: z.literal('base64'),
      content_sha256: z.string(),
      ref: z.string(),
      blob_id: z.string(),
      commit_id: z.string(),
      last_commit_id: z.string(),
      execute_filemode: z.boolean(),
      content: z.string(),
    })
    .meta({ id: 'RepositoryFile' }),
  of: (file) => ({ ...fileFacts(file), content: base64(file.bytes) }),
}

/** Returns the metadata of a file as headers such as `X-Svc-Blob-Id`, for HEAD and raw content. */
export function fileHeaders(file: RepositoryFile): Record<string, string> {
  const prefix = `X-${headerName(file.serviceName)}`
  return Object.fromEntries(
    Object.entries(fileFacts(file)).map(([key, value]) => {
      const words = key.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1))
      return [`${prefix}-${words.join('-')}`, headerText(String(value))]
    }),
  )
}

/** Percent-encodes all characters except printable ASCII, because headers cannot carry them. */
const headerText = (text: string): string => text.replace(/[^\x20-\x7e]+/gu, (part) => encodeURIComponent(part))

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
const encodePath = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

/** Returns the Content-Disposition for a file that browsers display. */
export const inlineDisposition = (fileName: string): string => disposition('inline', fileName)

/** @see RFC 6266 */
export function disposition(kind: 'inline' | 'attachment', fileName: string): string {
  const plain = fileName.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(fileName).replace(/['()*]/g, escapeByte)}`
}
const escapeByte = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

export const rawContent = ({ bytes }: { bytes: Uint8Array }) => ({ type: 'text/plain', body: bytes })
