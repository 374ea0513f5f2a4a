import { z } from 'zod'
import { pageInput } from '../../base/kit/page.ts'
import { clearable, namespaceRef } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { captchaInput } from '../../base/spam/spam-check.ts'
import { revision } from '../repositories/commit-operations.ts'
import { snippetVisibilities } from './snippet.ts'
import { isUnsafePath, MAX_SNIPPET_ACTIONS, type SnippetAction, snippetActionNames } from './snippet-actions.ts'

// The inputs of the operations on snippets of projects. Here, a blank text is an invalid parameter.

const isBlank = (text: string) => text.trim() === ''

const presentText = z.string().superRefine((value, context) => {
  if (isBlank(value)) context.addIssue(problem('empty'))
})

const safePath = z.string().superRefine((path, context) => {
  if (isUnsafePath(path)) context.addIssue(problem('unsafe_path'))
})

/** A path that may be empty, if the service names the file. */
const optionalPath = safePath.nullish()

const requiredPath = z
  .string()
  .nullable()
  .superRefine((path, context) => {
    if (path === null || isUnsafePath(path)) context.addIssue(problem('unsafe_path'))
    if (path === null || isBlank(path)) context.addIssue(problem('empty'))
  })

const newFile = z.object({ filePath: requiredPath, content: presentText })

const snippetAction = z.object({
  action: z.enum(snippetActionNames),
  filePath: optionalPath,
  previousPath: optionalPath,
  content: z.string().nullish(),
})

const inProject = { project: namespaceRef }
const one = { ...inProject, snippetId: z.int() }
const visibility = z.enum(snippetVisibilities).optional()

export const listSnippetsInput = z.object({ ...inProject, ...pageInput })
export const snippetInput = z.object(one)
export const rawFileInput = z.object({ ...one, ref: revision, filePath: safePath })

export const createSnippetInput = z
  .object({
    ...inProject,
    title: presentText,
    description: clearable(z.string()),
    visibility,
    files: z.array(newFile).min(1).max(MAX_SNIPPET_ACTIONS).optional(),
    /** The former way to give the only file, together with `fileName`. An empty name is replaced. */
    content: presentText.optional(),
    fileName: z.string().optional(),
    captcha: captchaInput,
  })
  .superRefine(({ files, content, fileName }, context) => {
    const isGiven = { files: files !== undefined, content: content !== undefined, fileName: fileName !== undefined }
    const add = (kind: Parameters<typeof problem>[0], ...names: string[]) => context.addIssue(problem(kind, { names }))
    if (!isGiven.files && !isGiven.content) add('exactly_one', 'files', 'content')
    if (isGiven.files && isGiven.content) add('mutually_exclusive', 'files', 'content')
    if (isGiven.files && isGiven.fileName) add('mutually_exclusive', 'files', 'fileName')
    if (isGiven.content && !isGiven.fileName) context.addIssue(problem('missing', { path: ['fileName'] }))
  }, acrossParameters)

export const updateSnippetInput = z
  .object({
    ...one,
    title: presentText.optional(),
    description: clearable(z.string()),
    visibility,
    files: z.array(snippetAction).max(MAX_SNIPPET_ACTIONS).optional(),
    content: presentText.optional(),
    fileName: presentText.optional(),
    captcha: captchaInput,
  })
  .superRefine(({ files, content, fileName }, context) => {
    const add = (...names: string[]) => context.addIssue(problem('mutually_exclusive', { names }))
    if (files !== undefined && content !== undefined) add('files', 'content')
    if (files !== undefined && fileName !== undefined) add('files', 'fileName')
  }, acrossParameters)

/** Returns the actions that create the files of a new snippet. */
export const newFilesIn = ({ files, content, fileName }: z.output<typeof createSnippetInput>): SnippetAction[] =>
  (files ?? [{ filePath: fileName ?? '', content: content! }]).map((file) => ({ action: 'create', ...file }))
