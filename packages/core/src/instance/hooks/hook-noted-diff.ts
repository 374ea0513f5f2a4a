import { createHash } from 'node:crypto'
import { changesBetween, diffOf, type FileDiff, MAX_FILES, withFileNames } from '../../base/git/commit-diff.ts'
import type { Project } from '../../base/model/project.ts'
import type { Core } from '../../base/operations/context.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import type { NotePosition } from '../../work/notes/note.ts'
import { isCommit } from './hook-git-facts.ts'

/** The diff of the file that a note is about. */
export interface NotedDiff {
  readonly file: FileDiff
  /** The digest of the path with the old and the new number of the line; `undefined` if the note is about no line. */
  readonly lineCode: string | undefined
}

type Place = Pick<NotePosition, 'baseSha' | 'headSha' | 'oldPath' | 'newPath' | 'oldLine' | 'newLine'>

/** Returns the diff that a note is about; `undefined` if its commits or its file are not in the repository. */
export async function readNotedDiff(core: Core, project: Project, place: Place): Promise<NotedDiff | undefined> {
  const git = (await findProjectRepository(core, project))?.git
  if (git === undefined || !(await isCommit(git, place.headSha))) return undefined
  const { tree: after, parents } = await git.commit(place.headSha)
  // Positions on a first commit name no base, or, from earlier versions, the commit itself.
  const hasBase = parents.length > 0 || place.baseSha !== place.headSha
  const isBase = hasBase && (await isCommit(git, place.baseSha))
  if (!isBase && parents.length > 0) return undefined
  const trees = { before: isBase ? (await git.commit(place.baseSha)).tree : undefined, after }
  const changes = await changesBetween(git, trees, MAX_FILES)
  const change = changes.find(({ oldPath, newPath }) => newPath === place.newPath || oldPath === place.oldPath)
  if (change === undefined) return undefined
  const file = await diffOf(git, change)
  const numbers = lineNumbersIn(file.diff, place)
  const digest = createHash('sha1').update(file.newPath).digest('hex')
  return { file: withFileNames(file), lineCode: numbers && `${digest}_${numbers.join('_')}` }
}

const hunkHead = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

/** Returns the old and the new number of a line. An added line has the old number of the next line that was not added. */
function lineNumbersIn(
  diff: string,
  { oldLine, newLine }: Pick<NotePosition, 'oldLine' | 'newLine'>,
): readonly [number, number] | undefined {
  if (oldLine != null && newLine != null) return [oldLine, newLine]
  let [old, fresh] = [0, 0]
  for (const text of diff.split('\n')) {
    const hunk = hunkHead.exec(text)
    if (hunk !== null) {
      // The head of a hunk without lines on one side names the line before it.
      old = Number(hunk[1]) + (hunk[2] === '0' ? 1 : 0)
      fresh = Number(hunk[3]) + (hunk[4] === '0' ? 1 : 0)
      continue
    }
    const kind = text[0]
    const isNoted =
      (oldLine != null && kind !== '+' && old === oldLine) || (newLine != null && kind !== '-' && fresh === newLine)
    if (isNoted && (kind === '+' || kind === '-' || kind === ' ')) return [old, fresh]
    if (kind === '-' || kind === ' ') old += 1
    if (kind === '+' || kind === ' ') fresh += 1
  }
  return undefined
}
