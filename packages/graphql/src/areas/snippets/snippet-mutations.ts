import {
  createSnippet,
  getSnippet,
  removeSnippet,
  reportSnippetAsSpam,
  type Snippet,
  snippetActionNames,
  updateSnippet,
} from '@penstock/core'
import { payloadErrors } from '../../request/failure.ts'
import { performIn } from '../../request/request-context.ts'
import { sharedEnums } from '../../schema/enums.ts'
import type { Kit } from '../../schema/kit.ts'
import { mutation, type PayloadSource } from '../../schema/mutation.ts'
import { omitNullish } from '../../schema/omit-nullish.ts'
import type { FieldsOf } from '../../schema/schema-types.ts'

export function addSnippetMutations(kit: Kit): void {
  const { builder } = kit
  const { visibility } = sharedEnums(kit)
  const action = builder.enumType('SnippetBlobActionEnum', { values: snippetActionNames })
  const blobAction = builder.inputType('SnippetBlobActionInputType', {
    description: 'A change of one file',
    fields: (t) => ({
      action: t.field({ type: action, required: true }),
      filePath: t.string({ required: true, description: 'If it is empty, the service names the new file' }),
      previousPath: t.string({ description: 'Required to move a file' }),
      content: t.string({ description: 'Required to create or update a file' }),
    }),
  })
  const payload = (t: FieldsOf<PayloadSource<{ readonly snippet: Snippet | null }>>) => ({
    snippet: t.field({ type: 'Snippet', resolve: ({ snippet }) => snippet }),
  })

  mutation(kit, 'createSnippet', {
    description: 'Creates a snippet of a project, or a personal one without `projectPath`; at most 300 in an hour',
    input: (t) => ({
      title: t.string({ required: true }),
      visibilityLevel: t.field({ type: visibility, required: true }),
      description: t.string(),
      projectPath: t.id(),
      blobActions: t.field({ type: [blobAction] }),
      uploadedFiles: t.stringList({ description: 'Ignored: descriptions have no uploaded files' }),
    }),
    run: async ({ title, visibilityLevel, description, projectPath, blobActions }, context) => {
      const input = {
        title,
        visibility: visibilityLevel,
        description,
        project: projectPath,
        ...omitNullish({ actions: blobActions }),
        captcha: context.captcha,
      }
      return { snippet: await performIn(context, createSnippet, input) }
    },
    payload,
  })

  mutation(kit, 'updateSnippet', {
    description:
      'Changes a snippet, and its files in one commit. After a failure, the payload has the unchanged snippet',
    input: (t) => ({
      id: t.field({ type: 'SnippetID', required: true }),
      title: t.string(),
      description: t.string(),
      visibilityLevel: t.field({ type: visibility }),
      blobActions: t.field({ type: [blobAction] }),
    }),
    run: async ({ id, title, description, visibilityLevel, blobActions }, context) => {
      const input = {
        id,
        description,
        ...omitNullish({ title, visibility: visibilityLevel, actions: blobActions }),
        captcha: context.captcha,
      }
      try {
        return { snippet: await performIn(context, updateSnippet, input) }
      } catch (error) {
        const errors = payloadErrors(error)
        return { snippet: await performIn(context, getSnippet, { id }), errors }
      }
    },
    payload,
  })

  mutation(kit, 'destroySnippet', {
    input: (t) => ({ id: t.field({ type: 'SnippetID', required: true }) }),
    run: async ({ id }, context) => {
      await performIn(context, removeSnippet, { id })
      return { snippet: null }
    },
    payload,
  })

  mutation(kit, 'markAsSpamSnippet', {
    description: 'Reports a snippet to the spam-detection service',
    input: (t) => ({ id: t.field({ type: 'SnippetID', required: true }) }),
    run: async ({ id }, context) => {
      const { snippet, isSubmitted } = await performIn(context, reportSnippetAsSpam, { id })
      return { snippet, errors: isSubmitted ? [] : ['The spam-detection service has not accepted the report'] }
    },
    payload,
  })
}
