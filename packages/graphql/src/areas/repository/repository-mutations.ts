import { type Branch, createBranch, createCommit, locateProject } from '@penstock/core'
import { performIn, type RequestContext } from '../../request/request-context.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { CommitOfProject } from '../../schema/sources.ts'

/** A branch with its project, which is part of the address of its commit's page. */
interface BranchOfProject extends Pick<Branch, 'name'> {
  readonly commit: CommitOfProject
}

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    Branch: BranchOfProject
  }
}

export function addRepositoryMutations(kit: Kit): void {
  const { builder } = kit
  builder.objectType('Branch', {
    fields: (t) => ({
      name: t.exposeString('name', { nullable: false }),
      commit: t.field({ type: 'Commit', resolve: ({ commit }) => commit }),
    }),
  })
  const mode = builder.enumType('CommitActionMode', {
    values: {
      CHMOD: { value: 'chmod' },
      CREATE: { value: 'create' },
      DELETE: { value: 'delete' },
      MOVE: { value: 'move' },
      UPDATE: { value: 'update' },
    } as const,
  })
  const encoding = builder.enumType('CommitEncoding', {
    values: { BASE64: { value: 'base64' }, TEXT: { value: 'text' } } as const,
  })
  const action = builder.inputType('CommitAction', {
    fields: (t) => ({
      action: t.field({ type: mode, required: true }),
      filePath: t.string({ required: true }),
      previousPath: t.string({ description: 'The path of the file to move' }),
      content: t.string(),
      encoding: t.field({ type: encoding }),
      executeFilemode: t.boolean(),
      lastCommitId: t.string({ description: 'The action is refused if the file has changed since this commit' }),
    }),
  })

  mutation(kit, 'createBranch', {
    input: (t) => ({
      projectPath: t.id({ required: true }),
      name: t.string({ required: true }),
      ref: t.string({ required: true, description: 'Branch, tag or commit from which the branch starts' }),
    }),
    run: async ({ projectPath, name, ref }, context) => {
      const branch = await performIn(context, createBranch, { project: projectPath, branch: name, ref })
      return { branch: { name: branch.name, commit: await inProject(branch.commit, projectPath, context) } }
    },
    payload: (t) => ({ branch: t.field({ type: 'Branch', resolve: ({ branch }) => branch }) }),
  })

  mutation(kit, 'commitCreate', {
    description: 'Creates a commit with all actions, or none if one of them is not possible',
    input: (t) => ({
      projectPath: t.id({ required: true }),
      branch: t.string({ required: true, description: 'An existing branch, or a new one' }),
      startBranch: t.string({ description: 'The branch from which a new branch starts' }),
      message: t.string({ required: true }),
      actions: t.field({ type: [action], required: true }),
    }),
    run: async ({ projectPath, branch, startBranch, message, actions }, context) => {
      const input = { project: projectPath, branch, startBranch, commitMessage: message, stats: false }
      const commit = await performIn(context, createCommit, { ...input, actions: actions.map(omitNullish) })
      const content = actions.flatMap(({ content }) => content ?? [])
      return { commit: await inProject(commit, projectPath, context), content }
    },
    payload: (t) => ({
      commit: t.field({ type: 'Commit', resolve: ({ commit }) => commit }),
      commitPipelinePath: t.string({
        description: 'Null, because answers are not cached by ETag',
        resolve: () => null,
      }),
      content: t.stringList({ description: 'Contents of the actions', resolve: ({ content }) => content }),
    }),
  })
}

async function inProject(
  commit: Omit<CommitOfProject, 'inProject'>,
  project: string,
  context: RequestContext,
): Promise<CommitOfProject> {
  return { ...commit, inProject: await performIn(context, locateProject, { project }) }
}
