import {
  descriptionsOfEachSnippet,
  rightsOfEachSnippet,
  type Snippet,
  type SnippetRights,
  snippetClonePath,
  snippetFields,
  snippetWebPath,
  sshCloneUrl,
} from '@penstock/core'
import { html } from '@penstock/http'
import { loadBatched } from '../../request/request-context.ts'
import { descriptionField, descriptionHtmlField, plainFields } from '../../schema/area-fields.ts'
import { constantFields } from '../../schema/constant-fields.ts'
import { repositoryRead, withCost } from '../../schema/cost.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { addSnippetBlobs } from './snippet-blobs.ts'
import { addSnippetLists } from './snippet-lists.ts'
import { addSnippetMutations } from './snippet-mutations.ts'

declare module '../../schema/schema-types.ts' {
  interface ObjectSources {
    Snippet: Snippet
    SnippetPermissions: SnippetRights
  }
}

export function addSnippets(kit: Kit): void {
  const { builder, globalIds, settings, web } = kit
  const { visibility } = sharedEnums(kit)
  const importSource = builder.enumType('ImportSource', {
    description: 'Origin of an imported object',
    values: ['NONE', 'SVC_MIGRATION', 'SVC_PROJECT', 'FORGE_A', 'FORGE_B', 'FORGE_B_SERVER'] as const,
  })

  builder.objectType('SnippetPermissions', {
    description: 'What the caller may do with a snippet',
    fields: (t) => ({
      readSnippet: t.exposeBoolean('read', { nullable: false }),
      updateSnippet: t.exposeBoolean('update', { nullable: false }),
      adminSnippet: t.exposeBoolean('admin', { nullable: false }),
      reportSnippet: t.exposeBoolean('report', { nullable: false }),
      createNote: t.exposeBoolean('comment', { nullable: false }),
      awardEmoji: t.exposeBoolean('comment', { nullable: false }),
    }),
  })

  builder.objectType('Snippet', {
    description: 'Text files of a user, in a project or personal',
    fields: (t) => ({
      ...plainFields(t, snippetFields, ['title', 'createdAtMs', 'updatedAtMs']),
      id: t.field({
        type: 'SnippetID',
        nullable: false,
        resolve: ({ id, projectId }) =>
          globalIds.of(projectId === undefined ? 'PersonalSnippet' : 'ProjectSnippet', id),
      }),
      titleHtml: t.string({ resolve: ({ title }) => html`${title}`.text }),
      description: descriptionField(t, descriptionsOfEachSnippet),
      descriptionHtml: descriptionHtmlField(t, descriptionsOfEachSnippet),
      fileName: t.string({ description: 'The path of the first file', resolve: ({ files }) => files[0] }),
      visibilityLevel: t.field({ type: visibility, nullable: false, resolve: (snippet) => snippet.visibility }),
      project: t.field({
        type: 'Project',
        description: 'Null for a personal snippet',
        resolve: ({ project }) => project,
      }),
      author: t.field({ type: 'UserCore', resolve: ({ author }) => author }),
      webUrl: t.string({ nullable: false, resolve: (snippet) => web.url(snippetWebPath(snippet)) }),
      rawUrl: t.string({ nullable: false, resolve: (snippet) => web.url(`${snippetWebPath(snippet)}/raw`) }),
      httpUrlToRepo: t.string({
        ...withCost(repositoryRead),
        resolve: (snippet) => web.url(snippetClonePath(snippet)),
      }),
      sshUrlToRepo: t.string({
        ...withCost(repositoryRead),
        resolve: (snippet) => sshCloneUrl(settings.externalUrl, snippetClonePath(snippet)),
      }),
      hidden: t.boolean({
        nullable: false,
        description: 'Whether the author is banned; only administrators see such snippets',
        resolve: ({ author }) => author?.state === 'banned',
      }),
      imported: constantFields(t).alwaysFalse(),
      importedFrom: t.field({ type: importSource, nullable: false, resolve: () => 'NONE' as const }),
      userPermissions: t.field({
        type: 'SnippetPermissions',
        nullable: false,
        resolve: (snippet, _args, context) => loadBatched(context, rightsOfEachSnippet, snippet),
      }),
    }),
  })
  addSnippetBlobs(kit)
  addSnippetLists(kit)
  addSnippetMutations(kit)
}
