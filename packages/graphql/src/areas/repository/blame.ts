import { type BlamedLines, blameFile, type FileOfRepository, MAX_INTEGER } from '@penstock/core'
import { GraphQLError } from 'graphql'
import { type RequestContext, readOrNull } from '../../request/request-context.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import { repositoryRead, withCost } from '../../schema/cost.ts'
import type { Kit } from '../../schema/kit.ts'

/** The lines of a file in groups by the commit that last changed them. */
interface Blame {
  readonly file: FileOfRepository
  readonly groups: readonly BlameGroup[]
}

interface BlameGroup extends BlamedLines {
  readonly file: FileOfRepository
  readonly firstLine: number
  /** The time of the oldest commit of all groups, or the time at which the project was created, if that is earlier. */
  readonly startMs: number
}

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    Blame: Blame
    Groups: BlameGroup
    CommitData: BlameGroup
  }
}

export function addBlame(kit: Kit): void {
  const { builder } = kit
  builder.objectType('CommitData', {
    description: 'How a client draws a group',
    fields: (t) => ({
      ageMapClass: t.string({
        nullable: false,
        description: 'The age of the commit between that of the oldest, 9, and now, 0',
        resolve: (group, _args, { core }) => `blame-commit-age-${ageOf(group, core.clock.nowMs())}`,
      }),
      projectBlameLink: constantFields(t).nullText(),
    }),
  })
  builder.objectType('Groups', {
    description: 'Consecutive lines of one commit',
    fields: (t) => ({
      commit: t.field({ type: 'Commit', resolve: ({ commit, file }) => ({ ...commit, inProject: file.project }) }),
      commitData: t.field({ type: 'CommitData', resolve: (group) => group }),
      lineno: t.int({ resolve: ({ firstLine }) => firstLine }),
      lines: t.stringList({ resolve: ({ lines }) => [...lines] }),
      span: t.int({ resolve: ({ lines }) => lines.length }),
    }),
  })
  builder.objectType('Blame', {
    fields: (t) => ({
      firstLine: t.string({ resolve: ({ groups }) => groups[0] && String(groups[0].firstLine) }),
      groups: t.field({ type: ['Groups'], resolve: ({ groups }) => groups }),
    }),
  })
  builder.objectField('RepositoryBlob', 'blame', (t) =>
    t.field({
      type: 'Blame',
      description: 'The commits that last changed the lines; for one file in an operation',
      ...withCost(repositoryRead),
      args: {
        fromLine: t.arg.int({ defaultValue: 1 }),
        toLine: t.arg.int({ description: 'Default: the last line' }),
        ignoreRevs: t.arg.boolean({ defaultValue: false, description: 'Not supported: no commits can be ignored' }),
      },
      resolve: async (file, { fromLine, toLine, ignoreRevs }, context) => {
        if (ignoreRevs === true) throw new GraphQLError('Commits cannot be ignored here')
        requireSingleFile(context, file)
        await context.blobBudget.admit({ blob: file, field: 'blame', size: () => file.size() })
        const first = fromLine ?? 1
        const range = { start: first, end: toLine ?? MAX_INTEGER }
        const input = { project: file.project.id, filePath: file.path, ref: file.commitSha, range }
        return toBlame(file, first, (await readOrNull(context, blameFile, input)) ?? [])
      },
    }),
  )
}

/** A line number that is higher than that of any line. */
const OLDEST = 9
const DAY_MS = 86_400_000

function toBlame(file: FileOfRepository, firstLine: number, groups: readonly BlamedLines[]): Blame {
  const startMs = groups.reduce(
    (first, { commit }) => Math.min(first, commit.committer.atSeconds * 1_000),
    file.project.createdAtMs,
  )
  let next = firstLine
  return {
    file,
    groups: groups.map((group) => {
      const first = next
      next += group.lines.length
      return { ...group, file, firstLine: first, startMs }
    }),
  }
}

/**
 * Returns the age of a group's commit in tenths of the age of the oldest commit, the unit in which GitLab's client
 * shows it.
 */
function ageOf({ commit, startMs }: BlameGroup, nowMs: number): number {
  const daysSince = (ms: number) => Math.floor((nowMs - ms) / DAY_MS)
  const oldest = daysSince(startMs)
  return oldest <= 0 ? 0 : Math.min(Math.floor((10 * daysSince(commit.committer.atSeconds * 1_000)) / oldest), OLDEST)
}

const fileWithBlame = new WeakMap<RequestContext, FileOfRepository>()

/** Limits an operation to the blame of one file, which reads much of a history. @throws GraphQLError for a second file */
function requireSingleFile(context: RequestContext, file: FileOfRepository): void {
  const first = fileWithBlame.get(context) ?? file
  fileWithBlame.set(context, first)
  if (first !== file) throw new GraphQLError('"blame" field can be requested only for 1 RepositoryBlob(s) at a time.')
}
