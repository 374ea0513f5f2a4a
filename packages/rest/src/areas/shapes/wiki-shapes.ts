import type { WikiAttachment, WikiPage, WikiPageWithContent } from '@penstock/core'
import { z } from 'zod'
import { jsonShape, type Member, member } from '../../routing/json-shape.ts'
import type { Shape } from '../../routing/route.ts'

type ListedPage = WikiPage & Partial<WikiPageWithContent>

const of = (schema: z.ZodType, value: Member<ListedPage>['of']) => member<ListedPage>(schema, value)
const frontMatter = z.record(z.string(), z.unknown())

const pageMembers = {
  format: of(z.string(), ({ format }) => format),
  slug: of(z.string(), ({ slug }) => slug),
  title: of(z.string(), ({ title }) => title),
  // A former version of a page that has moved since has no id.
  wikiPageMetaId: of(z.int().nullable(), ({ id }) => id ?? null),
}

export const wikiPageShape: Shape<WikiPageWithContent> = jsonShape<WikiPageWithContent>('WikiPage', {
  ...pageMembers,
  content: of(z.string(), ({ content }) => content),
  encoding: of(z.literal('UTF-8'), () => 'UTF-8'),
  frontMatter: of(frontMatter, (page) => page.frontMatter),
})

/** A page in a list, with its content only if the request asks for it. */
export const listedWikiPageShape: Shape<ListedPage> = jsonShape<ListedPage>('ListedWikiPage', {
  ...pageMembers,
  content: of(z.string().optional(), ({ content }) => content),
  encoding: of(z.literal('UTF-8').optional(), ({ content }) => (content === undefined ? undefined : 'UTF-8')),
  frontMatter: of(frontMatter.optional(), (page) => page.frontMatter),
})

export const wikiAttachmentShape: Shape<WikiAttachment> = {
  schema: z
    .object({
      file_name: z.string(),
      file_path: z.string(),
      branch: z.string(),
      link: z.object({ url: z.string(), markdown: z.string() }),
    })
    .meta({ id: 'WikiAttachment' }),
  of: ({ fileName, path, branch, markdown }) => ({
    file_name: fileName,
    file_path: path,
    branch,
    link: { url: path, markdown },
  }),
}
