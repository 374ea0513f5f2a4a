import type { Readable } from 'node:stream'
import { z } from 'zod'
import { refused } from '../git/commit-actions.ts'
import { modes } from '../git/git-object.ts'
import { entryAt } from '../git/history.ts'
import { notFound } from '../kit/domain-error.ts'
import { parentIds } from '../model/parent.ts'
import type { Core } from '../operations/context.ts'
import { query, steps } from '../operations/operation.ts'
import { getParent, parentInput } from '../parents/parent-operations.ts'
import { settingOf } from '../settings/setting-of.ts'
import { getUser } from '../users/user-store.ts'
import { changeWiki, openWiki } from './change-wiki.ts'
import { attachmentMarkdown, attachmentName, type WikiAttachment } from './wiki-attachment.ts'
import { isAttachment } from './wiki-slug.ts'

const attachmentInput = z.object({
  ...parentInput,
  /** A file that the adapter has stored on the disk. */
  file: z.object({ fileName: z.string(), contentType: z.string(), path: z.string(), size: z.int() }),
  branch: z.string().max(1_024).nullish(),
})

/** Returns the limit of an uploaded file. */
export const maxAttachmentBytes = async (core: Core): Promise<number> =>
  (await settingOf(core, 'max_attachment_size')) * 1024 * 1024

/** Stores a file in the wiki of a group, in a directory of its own. */
export const attachToGroupWiki = steps(
  {
    name: 'attachToGroupWiki',
    input: attachmentInput,
    permission: 'write_wiki',
    subject: (context, { parent }) => getParent(context, 'group', parent),
  },
  async (context, { file, branch }): Promise<WikiAttachment> => {
    const { core, subject: parent } = context
    const name = attachmentName(file.fileName)
    if (name === undefined) throw refused('The file name cannot be empty')
    const author = await getUser(context, context.actor!.id)
    const segments = ['uploads', Buffer.from(core.randomBytes(16)).toString('hex'), name]
    const path = segments.join('/')
    return changeWiki(
      context,
      parent,
      author,
      async ({ repository, tree }) => {
        const oid = await repository.writeBlobOfFile(file.path, file.size)
        // Only a file or a link with the name `uploads`, from elsewhere, can be in the way.
        if (!(await tree.put(segments, { oid, isExecutable: false })))
          throw refused('The wiki has a file called uploads')
        return {
          message: `Upload attachment ${name}`,
          storeRows: async (tx, { branch: storedOn }) => {
            await tx.recordEvent({
              type: 'wiki_attachment.created',
              objectId: parent.id,
              ...parentIds(parent),
              details: { path },
            })
            return { fileName: name, path, branch: storedOn, markdown: attachmentMarkdown(name, path) }
          },
        }
      },
      branch || undefined,
    )
  },
)

/** An attachment to send. */
export interface WikiFile {
  readonly name: string
  readonly size: number
  readonly body: Readable
}

/** Reads an attachment from the default branch of the wiki of a group. */
export const getGroupWikiAttachment = query(
  {
    name: 'getGroupWikiAttachment',
    caller: 'anyone',
    input: z.object({ ...parentInput, directory: z.string().max(32), fileName: z.string().max(255) }),
    permission: 'read_wiki',
    subject: (context, { parent }) => getParent(context, 'group', parent),
  },
  async ({ core, subject }, { directory, fileName }): Promise<WikiFile> => {
    const wiki = await openWiki(core, subject)
    const segments = ['uploads', directory, fileName]
    const entry = wiki?.head.tree && (await entryAt(wiki.repository, wiki.head.tree, segments))
    const isFile = entry && (entry.mode === modes.file || entry.mode === modes.executable)
    if (!isFile || !isAttachment(segments.join('/'))) throw notFound('Attachment')
    const { repository } = wiki!
    return { name: fileName, size: await repository.blobSize(entry.oid), body: await repository.blobParts(entry.oid) }
  },
)
