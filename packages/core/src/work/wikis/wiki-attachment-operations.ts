import type { Readable } from 'node:stream'
import { z } from 'zod'
import { refused } from '../../base/git/commit-actions.ts'
import { modes } from '../../base/git/git-object.ts'
import { entryAt } from '../../base/git/history.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { type ParentRef, parentIds } from '../../base/model/parent.ts'
import type { Core } from '../../base/operations/context.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { getParent, parentInput } from '../../identity/parents/parent-operations.ts'
import { getUser } from '../../identity/users/user-store.ts'
import { changeWiki, openWiki } from './change-wiki.ts'
import { attachmentMarkdown, attachmentName, type WikiAttachment } from './wiki-attachment.ts'
import { isAttachment } from './wiki-slug.ts'

const attachmentInput = z.object({
  ...parentInput,
  /** A file that the adapter has stored on the disk. */
  file: z.object({ fileName: z.string(), contentType: z.string(), path: z.string(), size: z.int() }),
  branch: z.string().max(1_024).nullish(),
})

const fileInput = z.object({ ...parentInput, directory: z.string().max(32), fileName: z.string().max(255) })

/** Returns the limit of an uploaded file. */
export const maxAttachmentBytes = async (core: Core): Promise<number> =>
  (await settingOf(core, 'max_attachment_size')) * 1024 * 1024

/** An attachment to send. */
export interface WikiFile {
  readonly name: string
  readonly size: number
  readonly body: Readable
}

/** Returns the operations on the attachments of the wikis of groups, or of those of projects. */
function attachmentOperations(kind: ParentRef['kind']) {
  const owner = kind === 'group' ? 'Group' : 'Project'
  const subject = (context: ReadContext, { parent }: { readonly parent: number | string }) =>
    getParent(context, kind, parent)

  return {
    /** Stores a file, in a directory of its own. */
    attach: steps(
      { name: `attachTo${owner}Wiki`, input: attachmentInput, permission: 'write_wiki', subject },
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
    ),

    /** Reads a file from the default branch. */
    get: query(
      { name: `get${owner}WikiAttachment`, caller: 'anyone', input: fileInput, permission: 'read_wiki', subject },
      async ({ core, subject: parent }, { directory, fileName }): Promise<WikiFile> => {
        const wiki = await openWiki(core, parent)
        const segments = ['uploads', directory, fileName]
        const entry = wiki?.head.tree && (await entryAt(wiki.repository, wiki.head.tree, segments))
        const isFile = entry && (entry.mode === modes.file || entry.mode === modes.executable)
        if (!isFile || !isAttachment(segments.join('/'))) throw notFound('Attachment')
        const { repository } = wiki!
        const size = await repository.blobSize(entry.oid)
        return { name: fileName, size, body: await repository.blobParts(entry.oid) }
      },
    ),
  }
}

export const groupWikiAttachments = attachmentOperations('group')
export const projectWikiAttachments = attachmentOperations('project')
