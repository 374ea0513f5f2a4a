import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hookActions } from './hook-actions.ts'
import { HookedProject, type ReceivedCall } from './hooked-project.ts'

/** The types of gitbeaker, by the kind of the payload; for notes, by what they are about. It has none for the other kinds. */
const typeOfKind: Readonly<Record<string, string>> = {
  push: 'WebhookPushEventSchema',
  tag_push: 'WebhookTagEventSchema',
  issue: 'WebhookIssueEventSchema',
  Commit: 'WebhookCommitNoteEventSchema',
  MergeRequest: 'WebhookMergeRequestNoteEventSchema',
  Issue: 'WebhookIssueNoteEventSchema',
  Snippet: 'WebhookSnippetNoteEventSchema',
  merge_request: 'WebhookMergeRequestEventSchema',
  wiki_page: 'WebhookWikiEventSchema',
  pipeline: 'WebhookPipelineEventSchema',
  build: 'WebhookJobEventSchema',
  deployment: 'WebhookDeploymentEventSchema',
  feature_flag: 'WebhookFeatureFlagEventSchema',
  release: 'WebhookReleaseEventSchema',
  emoji: 'WebhookEmojiEventSchema',
}

/** The differences from gitbeaker's types, which were made from one example each. */
const differing: readonly string[] = []

const typeOf = ({ body }: ReceivedCall): string | undefined =>
  typeOfKind[body.object_kind === 'note' ? body.object_attributes.noteable_type : body.object_kind]

/**
 * Types that compute, from a type and that of a payload, the paths of members that the payload lacks or that have another
 * kind of value. Null is a value of any kind, because the types were made from examples.
 */
const prelude = (names: readonly string[]) => `import type { ${names.join(', ')} } from '@gitbeaker/rest'
type Kind<T> = T extends string ? 'text' : T extends number ? 'number' : T extends boolean ? 'flag'
  : T extends readonly unknown[] ? 'list' : 'object'
type Differing<T, P, Path extends string> =
  [P] extends [null | undefined] ? never
  : [Kind<NonNullable<P>>] extends [Kind<T>] ? (
    T extends readonly (infer Item)[] ? (P extends readonly (infer Given)[] ? Differing<NonNullable<Item>, Given, \`\${Path}[]\`> : never)
    : T extends object ? Members<T, NonNullable<P>, Path> : never)
  : \`\${Path}: \${Kind<NonNullable<P>>} for \${Kind<T>}\`
type Members<T, P, Path extends string> = { [Key in keyof T & string]:
  Key extends keyof P ? Differing<NonNullable<T[Key]>, P[Key], \`\${Path}.\${Key}\`>
  : undefined extends T[Key] ? never : \`\${Path}.\${Key}\` }[keyof T & string]
`

/** Returns the texts in the types of the compiler's errors. */
async function errorsOf(source: string): Promise<string[]> {
  // Inside the repository, where the compiler finds gitbeaker.
  const directory = mkdtempSync(join(import.meta.dirname, '.types-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  writeFileSync(join(directory, 'payloads.ts'), source)
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--noErrorTruncation',
    '--module',
    'nodenext',
    '--ignoreConfig',
  ]
  const compiler = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc')
  const output = await new Promise<string>((resolve) => {
    execFile(process.execPath, [compiler, ...options, 'payloads.ts'], { cwd: directory }, (_, stdout) =>
      resolve(stdout),
    )
  })
  return [...output.matchAll(/"([^"]+)"/g)].map(([, path]) => path!).toSorted()
}

test("the payloads have the members of gitbeaker's types", async () => {
  const project = await HookedProject.start()
  const payloads = new Map<string, string>()
  for (const { act } of hookActions) {
    await act(project)
    for (const call of await project.calls()) {
      const type = typeOf(call)
      // The last of each type has the most: a merged merge request, an ended pipeline.
      if (type !== undefined) payloads.set(type, call.text)
    }
  }
  expect([...payloads.keys()].toSorted()).toEqual([...new Set(Object.values(typeOfKind))].toSorted())
  const checks = [...payloads].map(
    ([type, text], index) => `const payload${index} = ${text}
export const checked${index}: Extract<Differing<${type}, typeof payload${index}, '${type.slice(7, -11)}'>, string> = 0`,
  )
  expect(await errorsOf(`${prelude([...payloads.keys()])}${checks.join('\n')}\n`)).toEqual(differing)
})
