import { z } from 'zod'
import { requirePermission } from '../../base/access/subject.ts'
import { forbidden, notFound } from '../../base/kit/domain-error.ts'
import { clearable, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { unscopedCommand, unscopedQuery, unscopedSteps } from '../../base/operations/operation.ts'
import { captchaInput } from '../../base/spam/spam-check.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { type DescribedSnippet, snippetVisibilities } from './snippet.ts'
import { canRemoveSnippet } from './snippet-access.ts'
import { MAX_SNIPPET_ACTIONS, snippetActionNames } from './snippet-actions.ts'
import { createSnippetWith, removeSnippetWith, updateSnippetWith, viewSnippet } from './snippet-changes.ts'
import { snippetCreationLimits } from './snippet-operations.ts'
import { findUserAgent, setSubmitted } from './user-agent-store.ts'

// Operations of GraphQL on snippets of projects and personal ones. Here, a blank title or an invalid path makes the snippet
// invalid, not a parameter.

const one = { id: z.int() }
const visibility = z.enum(snippetVisibilities)
const draft = { title: z.string(), description: clearable(z.string()), visibility }

const actions = z
  .array(
    z.object({
      action: z.enum(snippetActionNames),
      filePath: z.string(),
      previousPath: z.string().nullish(),
      content: z.string().nullish(),
    }),
  )
  .max(MAX_SNIPPET_ACTIONS)
  .default([])

/** Creates a snippet of a project, or a personal one without `project`. */
export const createSnippet = unscopedSteps(
  {
    name: 'createSnippet',
    limits: snippetCreationLimits,
    input: z.object({ ...draft, project: namespaceRef.nullish(), actions, captcha: captchaInput }),
  },
  async (context, { project: ref, ...input }): Promise<DescribedSnippet> => {
    const project = ref == null ? undefined : await getProject(context, ref)
    if (project !== undefined) await requirePermission(context, project, 'create_snippet')
    return createSnippetWith(context, { ...input, ...(project && { project }) })
  },
)

export const updateSnippet = unscopedSteps(
  {
    name: 'updateSnippet',
    input: z.object({
      ...one,
      title: draft.title.nullish(),
      description: draft.description,
      visibility: visibility.nullish(),
      actions,
      captcha: captchaInput,
    }),
  },
  (context, { id, actions: given, ...input }) => updateSnippetWith(context, id, { ...input, actionsFor: () => given }),
)

export const getSnippet = unscopedQuery(
  { name: 'getSnippet', caller: 'anyone', input: z.object(one) },
  async (context, { id }): Promise<DescribedSnippet> => (await viewSnippet(context, id)).snippet,
)

export const removeSnippet = unscopedCommand(
  { name: 'removeSnippet', input: z.object(one), isConditional: true },
  (tx, { id }) => removeSnippetWith(tx, id),
)

/** The outcome of a report to the spam-detection service. */
export interface SnippetReport {
  readonly snippet: DescribedSnippet
  readonly isSubmitted: boolean
}

/** Reports a snippet to the spam-detection service. Needs the right to remove it, and the request that created it. */
export const reportSnippetAsSpam = unscopedSteps(
  { name: 'reportSnippetAsSpam', input: z.object(one) },
  async (context, { id }): Promise<SnippetReport> => {
    const { snippet, viewer } = await viewSnippet(context, id)
    if (!canRemoveSnippet(viewer, snippet)) throw forbidden()
    const client = await findUserAgent(context, id)
    if (client === undefined || client.isSubmitted) throw notFound('UserAgentDetail')
    const isSubmitted = await report(context, snippet, client)
    if (isSubmitted) await context.write((tx) => setSubmitted(tx, id))
    return { snippet, isSubmitted }
  },
)

/** Returns whether the spam-detection service has accepted the report; false if there is none. */
async function report(
  { core }: ReadContext & OperationContext,
  { title, description, visibility: seenBy, author }: DescribedSnippet,
  { userAgent, ipAddress }: { readonly userAgent: string; readonly ipAddress: string },
): Promise<boolean> {
  if (core.spamReport === undefined) return false
  const isPublic = seenBy === 'public'
  const suspect = { kind: 'snippet', title, description, isPublic, author, userAgent, ipAddress } as const
  return core.spamReport(suspect).then(
    () => true,
    () => false,
  )
}
