import type { NotedDiff, NotePosition } from '@penstock/core'
import type { Json } from './shared-objects.ts'

/** Returns the place in a diff that a note is about. */
export function positionJson(position: NotePosition): Json {
  const { positionType, lineRange } = position
  return {
    base_sha: position.baseSha,
    start_sha: position.startSha,
    head_sha: position.headSha,
    old_path: position.oldPath ?? null,
    new_path: position.newPath ?? null,
    position_type: positionType,
    ...(positionType === 'text' && {
      old_line: position.oldLine ?? null,
      new_line: position.newLine ?? null,
      line_range: lineRange == null ? null : { start: endJson(lineRange.start), end: endJson(lineRange.end) },
    }),
    ...(positionType === 'image' && {
      width: position.width ?? null,
      height: position.height ?? null,
      x: position.x ?? null,
      y: position.y ?? null,
    }),
  }
}

const endJson = (end: NonNullable<NotePosition['lineRange']>['start']): Json | null =>
  end === undefined
    ? null
    : {
        line_code: end.lineCode ?? null,
        type: end.type ?? null,
        old_line: end.oldLine ?? null,
        new_line: end.newLine ?? null,
      }

/** Returns the diff of the file that a note is about. */
export const notedDiffJson = ({ file }: NotedDiff): Json => ({
  diff: file.diff,
  new_path: file.newPath,
  old_path: file.oldPath,
  a_mode: file.oldMode ?? '0',
  b_mode: file.newMode ?? '0',
  new_file: file.oldMode === undefined,
  renamed_file: file.isRenamed,
  deleted_file: file.newMode === undefined,
})
