import { type CommitAction, MAX_BLOB_BYTES } from '../../base/git/commit-actions.ts'
import { segmentsOf } from '../../base/git/repository-path.ts'
import { DomainError, invalid } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'

export const snippetActionNames = ['create', 'update', 'delete', 'move'] as const
type ActionName = (typeof snippetActionNames)[number]

/** A change of one file, as a client sends it. */
export interface SnippetAction {
  readonly action: ActionName
  readonly filePath?: string | null | undefined
  readonly previousPath?: string | null | undefined
  readonly content?: string | null | undefined
}

/** The limit of actions in one call. */
export const MAX_SNIPPET_ACTIONS = 100
const MAX_PATH_CHARACTERS = 255

/** Tells for each kind of action whether an action has the members that it needs. Other members are ignored or optional. */
const isComplete: Readonly<Record<ActionName, (action: SnippetAction) => boolean>> = {
  create: ({ content }) => isPresent(content),
  update: ({ filePath, previousPath, content }) =>
    isPresent(filePath) && isPresent(content) && (!isPresent(previousPath) || previousPath === filePath),
  delete: ({ filePath }) => isPresent(filePath),
  move: ({ filePath, previousPath }) => isPresent(filePath) && isPresent(previousPath) && previousPath !== filePath,
}

const isPresent = (text: string | null | undefined): text is string => text != null && text.trim() !== ''

/** The kind of change in error messages about a repository. */
export type SnippetChange = 'creating' | 'updating'

/** Returns the error for a repository that cannot be changed as requested. */
export const repositoryError = (change: SnippetChange, reason?: string): DomainError =>
  new DomainError({
    code: 'refused',
    message: `Repository Error ${change} the snippet${reason === undefined ? '' : ` - ${reason}`}`,
  })

/**
 * Returns the actions of a commit, in which each file has a name.
 *
 * @param existing the paths of the files before the change
 * @param allowed the kinds of actions that are possible
 * @throws DomainError `impossible` if an action lacks something, `refused` or `invalid` for a path
 */
export function commitActionsOf(
  actions: readonly SnippetAction[],
  existing: readonly string[],
  change: SnippetChange,
  allowed: readonly ActionName[] = snippetActionNames,
): CommitAction[] {
  if (actions.some((each) => !allowed.includes(each.action) || !isComplete[each.action](each))) {
    throw new DomainError({ code: 'impossible', message: 'Snippet actions have invalid data' })
  }
  let lastNumber = Math.max(0, ...existing.map(numberOf))
  return actions.map(({ action, filePath, previousPath, content }) => {
    lastNumber = isPresent(filePath) ? Math.max(lastNumber, numberOf(filePath)) : lastNumber + 1
    const path = isPresent(filePath) ? filePath : `snippetfile${lastNumber}.txt`
    requirePath(path, change)
    requireContentSize(content ?? '')
    if (action !== 'move') return { action, filePath: path, content: content ?? null }
    requirePath(previousPath!, change)
    return { action, filePath: path, previousPath: previousPath!, content: content ?? null }
  })
}

/** Returns the number in a name that was given to a file without one; 0 for other names. */
const numberOf = (path: string): number => Number(/^snippetfile(\d{1,9})\.txt$/.exec(path)?.[1] ?? 0)

function requirePath(path: string, change: SnippetChange): void {
  if (isUnsafePath(path) || segmentsOf(path) === undefined) throw repositoryError(change, 'Invalid file name')
  if ([...path].length > MAX_PATH_CHARACTERS) throw invalid({ fileName: [errorTexts.tooLong(MAX_PATH_CHARACTERS)] })
}

function requireContentSize(content: string): void {
  const bytes = Buffer.byteLength(content)
  if (bytes > MAX_BLOB_BYTES) throw tooMuchContent(bytes, MAX_BLOB_BYTES)
}

export const tooMuchContent = (bytes: number, maxBytes: number): DomainError =>
  invalid({ content: [`is too long (${bytes} bytes). The maximum size is ${maxBytes} bytes.`] })

/** Returns whether a path leads out of the repository, or is absolute. */
export const isUnsafePath = (path: string): boolean => /^[/\\]/.test(path) || path.split(/[/\\]/).includes('..')
