import { z } from 'zod'
import { DomainError } from '../kit/domain-error.ts'
import { problem } from '../kit/parse-input.ts'
import { base64Bytes, utf8Bytes } from './content-bytes.ts'
import type { WritableRepository } from './git-repository.ts'
import { segmentsOf } from './repository-path.ts'
import { type FileEntry, TreeDraft } from './tree-draft.ts'

const MAX_ACTIONS = 1_000
export const MAX_BLOB_BYTES = 10 * 1024 * 1024
const MAX_BASE64_LENGTH = Math.ceil(MAX_BLOB_BYTES / 3) * 4

export const contentText = z.string().max(MAX_BASE64_LENGTH)

/** A file's new content and its encoding. */
export const contentInput = {
  content: contentText.nullish(),
  encoding: z.enum(['text', 'base64']).nullish(),
}

const commitAction = z.object({
  action: z.enum(['create', 'update', 'delete', 'move', 'chmod']),
  filePath: z.string(),
  previousPath: z.string().nullish(),
  ...contentInput,
  /** Rejects the action if the file has changed since that commit. */
  lastCommitId: z.string().nullish(),
  executeFilemode: z.boolean().nullish(),
})
export type CommitAction = z.output<typeof commitAction>

export const commitActions = z.array(commitAction).superRefine((actions, context) => {
  if (actions.length > MAX_ACTIONS) context.addIssue(problem('invalid'))
})

/**
 * Applies all actions in order to a tree, and returns the id of the new tree.
 *
 * @param isUnchangedSince returns whether a file has not changed since a commit
 * @throws DomainError `refused`, in which case no action is applied
 */
export async function applyActions(
  repository: WritableRepository,
  baseTree: string | undefined,
  actions: readonly CommitAction[],
  isUnchangedSince: (path: string, commitId: string) => Promise<boolean>,
): Promise<string> {
  const draft = await TreeDraft.of(repository, baseTree)
  for (const action of actions) {
    const changedPath = pathToChange(action)
    if (changedPath && action.lastCommitId && !(await isUnchangedSince(changedPath, action.lastCommitId))) {
      throw refused(`${changedPath} has changed since the commit you based your change on`)
    }
    await apply(repository, draft, action)
  }
  return draft.write(repository)
}

/** Returns the path of the file that the action changes; `undefined` for one that creates a file. */
function pathToChange({ action, filePath, previousPath }: CommitAction): string | null | undefined {
  if (action === 'create') return undefined
  return action === 'move' ? previousPath : filePath
}

async function apply(repository: WritableRepository, draft: TreeDraft, action: CommitAction): Promise<void> {
  const path = action.filePath
  const segments = requireSegments(path)
  const write = async () => repository.writeBlob(await requireBytes(action))
  const isExecutable = action.executeFilemode ?? undefined
  switch (action.action) {
    case 'create': {
      if ((await draft.find(segments)) !== undefined) throw refused(`A file with the name ${path} already exists`)
      return put(draft, path, { oid: await write(), isExecutable: isExecutable ?? false })
    }
    case 'update': {
      const file = await requireFile(draft, path)
      return put(draft, path, { oid: await write(), isExecutable: isExecutable ?? file.isExecutable })
    }
    case 'chmod': {
      const file = await requireFile(draft, path)
      return put(draft, path, { oid: file.oid, isExecutable: isExecutable ?? file.isExecutable })
    }
    case 'delete':
      await requireFile(draft, path)
      return draft.remove(segments)
    case 'move': {
      if (!action.previousPath) throw refused(`The previous path of ${path} is missing`)
      const file = await requireFile(draft, action.previousPath)
      const oid = action.content == null ? file.oid : await write()
      await draft.remove(requireSegments(action.previousPath))
      if ((await draft.find(segments)) !== undefined) throw refused(`A file with the name ${path} already exists`)
      return put(draft, path, { oid, isExecutable: isExecutable ?? file.isExecutable })
    }
  }
}

async function put(draft: TreeDraft, path: string, file: FileEntry): Promise<void> {
  if (await draft.put(requireSegments(path), file)) return
  throw refused(`${path} cannot be a file: a directory has this name, or a file has the name of one of its directories`)
}

async function requireFile(draft: TreeDraft, path: string): Promise<FileEntry> {
  const found = await draft.find(requireSegments(path))
  if (found === undefined || found === 'directory') throw refused(`A file with the name ${path} does not exist`)
  return found
}

export function requireSegments(path: string): string[] {
  const segments = segmentsOf(path)
  // The message does not repeat the path, which may be long and contain any characters.
  if (segments === undefined) throw refused('The file path is not a valid path of a file in a repository')
  return segments
}

async function requireBytes({ content, encoding, filePath }: CommitAction): Promise<Uint8Array> {
  const bytes = await (encoding === 'base64' ? base64Bytes(content ?? '') : utf8Bytes(content ?? ''))
  if (bytes === undefined) throw refused(`The content of ${filePath} is not base64`)
  if (bytes.length > MAX_BLOB_BYTES) throw refused(`${filePath} is larger than ${MAX_BLOB_BYTES} bytes`)
  return bytes
}

export const refused = (message: string) => new DomainError({ code: 'refused', message })
